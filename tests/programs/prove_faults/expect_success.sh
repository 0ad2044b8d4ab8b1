#!/bin/sh
# expect_success.sh GDR VERDICT [PROVE-OPTIONS...]: exit status 0 and this verdict.
set -u
gdr=$1 verdict=$2
shift 2
output=$("$gdr" prove "$@" 2>&1)
status=$?
printf '%s\n' "$output"
[ "$status" -eq 0 ] || { echo "exit status $status instead of 0"; exit 1; }
printf '%s\n' "$output" | grep -q "$verdict" || { echo "no $verdict"; exit 1; }
