#!/bin/sh
# killed.sh GDR: of two connected rpings one is killed, and the other is told of a disconnect, as the
# kernel tells it. Both ways.
set -eu
gdr=$1
command -v rping >/dev/null || { echo "skipped: no rping (package rdmacm-utils)"; exit 77; }
port=$((30000 + $$ % 10000))
work=$(mktemp -d)
processes=
# shellcheck disable=SC2317  # called by the trap
end() {
  # shellcheck disable=SC2086  # words
  kill -9 $processes 2>/dev/null || true
  rm -rf "$work"
}
trap end EXIT
# --quiet: the process becomes rping, so its number is rping's.
start() {
  "$gdr" run --quiet --soft-nic --no-soft-gpu -- rping "$@" -a 127.10.0.1 -p "$port" -v -V \
    -C 1000000000 >"$work/$1" 2>&1 &
}
has() { grep -qs -e "$2" "$work/$1"; }
await() { # SECONDS COMMAND...: until it succeeds
  tenths=$(($1 * 10))
  shift
  until "$@"; do
    tenths=$((tenths - 1))
    [ $tenths -gt 0 ] || { echo "in vain: $*"; tail -n 5 "$work"/*; exit 1; }
    sleep 0.1
  done
}
gone() { ! kill -0 "$1" 2>/dev/null; }
# Stopped first, so that the other side has no work under way that would fail before it is told.
end_of() {
  kill -STOP "$1"
  sleep 0.2
  kill -KILL "$1"
}

for killed in -c -s; do
  rm -f "$work"/*
  start -s
  server=$!
  processes="$processes $server"
  connect() {
    start -c
    client=$!
    processes="$processes $client"
    await 50 eval 'has -c "ping data" || gone $client'
    has -c "ping data"
  }
  await 100 connect
  if [ $killed = -c ]; then
    end_of "$client"
    await 50 gone "$server"
    await 50 has -s "DISCONNECT EVENT"
  else
    end_of "$server"
    await 50 gone "$client"
    await 50 has -c "DISCONNECT EVENT"
  fi
  wait || true
  # Their numbers may be others' from here on.
  processes=
done
