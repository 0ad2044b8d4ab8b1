#!/bin/sh
# gpu_path.sh GDR PROGRAM MEMORY: bench_gpu_path runs through on the stand-ins, with every case of
# every size and every claim in its output. How fast it is is no test.
set -eu
fail() { echo "FAILED: $*"; exit 1; }

out=$(timeout 140 "$1" run --soft-nic --soft-gpu -- "$2" --memory "$3" --sizes 8,4K,2112K --seconds 1) ||
  fail "exit status $?"
echo "$out"
count() { echo "$out" | grep -c "$1" || true; }
for size in "8 B" "4 KiB" "2112 KiB"; do
  for case in "bare copy" "RC write" "bare copies, in flight" "RC writes, in flight" \
    "staged, serial" "bare, from pinned" "RC write, from pinned" "RC write, from ordinary" \
    "bare, into own pinned" "RC write, peer's pinned" "RC write, peer's ordinary" \
    "RC read, own pinned" "RC read, own ordinary"; do
    [ "$(count "^$size  .* $case   *[0-9]")" -ge 1 ] || fail "no '$case' of $size"
  done
done
[ "$(count "staged, overlapping")" = 1 ] || fail "staging in chunks is for more than one chunk"
[ "$(count "^RC write .*| not measured .*| -$")" = 3 ] || fail "not three claims, all about 64 MiB"
