#!/bin/sh
# killed.sh GDR: a proof that is ended by a signal leaves no worker behind.
set -u
gdr=$1
for signal in TERM HUP KILL; do  # a shell starts background programs with INT ignored
  setsid "$gdr" prove --soft --no-measure >/dev/null 2>&1 &
  proof=$!
  workers=
  for _ in $(seq 2000); do
    sleep 0.05
    workers=$(pgrep -P "$proof")
    [ "$(printf '%s\n' "$workers" | wc -w)" -eq 2 ] && break
  done
  [ -n "$workers" ] || { echo "no workers were started"; exit 1; }
  kill "-$signal" "$proof"
  wait "$proof" 2>/dev/null
  for _ in $(seq 2000); do  # a zombie counts until somebody has waited for it
    left=
    for worker in $workers; do
      kill -0 "$worker" 2>/dev/null && left="$left $worker"
    done
    [ -z "$left" ] && break
    sleep 0.05
  done
  [ -z "$left" ] || { echo "left behind after SIG$signal:$left"; exit 1; }
done
