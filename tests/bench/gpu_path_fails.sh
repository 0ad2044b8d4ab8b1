#!/bin/sh
# gpu_path_fails.sh GDR PROGRAM STATUS PART [OPTIONS...]: bench_gpu_path ends with that exit status,
# and one line that has PART in it.
set -eu
fail() { echo "FAILED: $*"; exit 1; }
gdr=$1
program=$2
expected=$3
part=$4
shift 4
errors=$(mktemp)
trap 'rm -f "$errors"' EXIT
status=0
timeout 140 "$gdr" run --soft-nic --soft-gpu -- "$program" "$@" >/dev/null 2>"$errors" || status=$?
cat "$errors"
[ "$status" = "$expected" ] || fail "exit status $status, expected $expected"
grep -q "^bench_gpu_path: .*$part" "$errors" || fail "no line with '$part'"
