#!/bin/sh
# side_by_side.sh GDR: proofs that run at the same time do not take each other's frames.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for number in 1 2 3 4; do
  ("$1" prove --soft --no-measure --modes raw --sizes 1,700,1472 >"$work/$number" 2>&1
   echo $? >"$work/$number.status") &
done
wait
status=0
for number in 1 2 3 4; do
  [ "$(cat "$work/$number.status")" -eq 0 ] || { cat "$work/$number"; status=1; }
done
exit "$status"
