#!/bin/sh
# expect_verdict.sh GDR STATUS VERDICT [PROVE-OPTIONS...]: this exit status and a line with this verdict.
set -u
gdr=$1 expected=$2 verdict=$3
shift 3
output=$("$gdr" prove "$@" 2>&1)
status=$?
printf '%s\n' "$output"
[ "$status" -eq "$expected" ] || { echo "exit status $status instead of $expected"; exit 1; }
printf '%s\n' "$output" | grep -q "$verdict" || { echo "no $verdict"; exit 1; }
