#!/bin/sh
# too_large.sh GDR PROVE-OPTIONS...: sizes that were asked for and do not fit are a failure that names
# the cause and both ways out.
set -u
gdr=$1
shift
output=$("$gdr" prove "$@" 2>&1)
status=$?
printf '%s\n' "$output"
[ "$status" -eq 1 ] || { echo "exit status $status instead of 1"; exit 1; }
for phrase in "^  seen  *GPU memory for sizes up to 64 MiB: .*OUT_OF_MEMORY" \
  "^  causes  *1[.] .*--sizes.*GDR_SOFT_GPUS" "^  next  *gdr prove --sizes"; do
  printf '%s\n' "$output" | grep -q -- "$phrase" || { echo "does not say: $phrase"; exit 1; }
done
