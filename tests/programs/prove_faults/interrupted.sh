#!/bin/sh
# interrupted.sh GDR: a proof that is interrupted, by a terminal's Ctrl-C or by SIGTERM, ends with a verdict
# of what was done and a whole document, not with nothing; both processes of it are gone afterwards.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for signal in INT TERM; do
  # To the whole group, as a terminal does. Many large transfers: it does not end by itself in time.
  setsid "$1" prove --soft --no-measure --json --sizes 64M,64M,64M,64M,64M,64M,64M,64M --report "$work/page.html" \
    >"$work/out" 2>"$work/err" &
  prove=$!
  # Until both workers are there.
  i=0
  until [ "$(pgrep -c -P "$prove" 2>/dev/null)" = 2 ]; do
    i=$((i + 1)); [ "$i" -lt 3000 ] || { echo "no workers"; exit 1; }
    sleep 0.1
  done
  sleep 1
  workers=$(pgrep -P "$prove")
  kill -s "$signal" -- "-$prove" 2>/dev/null || kill -s "$signal" "$prove"
  wait "$prove"
  status=$?
  [ "$status" -eq 3 ] || { cat "$work/out" "$work/err"; echo "SIG$signal: exit status $status, not 3"; exit 1; }
  python3 - "$work/out" <<'END' || exit 1
import json, sys
report = json.load(open(sys.argv[1]))
assert report["verdict"] == "INTERRUPTED" and report["interrupted"], report["verdict"]
assert report["exit_status"] == 3 and "was interrupted" in report["seen"][0], report["seen"]
END
  grep -q "</html>" "$work/page.html" || { echo "no whole page"; exit 1; }
  rm "$work/page.html"
  for worker in $workers; do
    kill -0 "$worker" 2>/dev/null && { echo "a worker is left"; exit 1; }
  done
done
exit 0
