#!/bin/sh
# wrong_use.sh GDR PHRASE PROVE-OPTIONS...: exit status 2, nothing on standard output, and one line on
# standard error that says PHRASE.
set -u
gdr=$1 phrase=$2
shift 2
errors=$("$gdr" prove "$@" 2>&1 >/dev/null)
status=$?
output=$("$gdr" prove "$@" 2>/dev/null)
printf '%s\n' "$errors"
[ "$status" -eq 2 ] || { echo "exit status $status instead of 2"; exit 1; }
[ -z "$output" ] || { echo "wrote to standard output: $output"; exit 1; }
[ "$(printf '%s\n' "$errors" | wc -l)" -eq 1 ] || { echo "more than one line"; exit 1; }
printf '%s\n' "$errors" | grep -qF -- "$phrase" || { echo "does not say: $phrase"; exit 1; }
