#!/bin/sh
# bound_at_once.sh GDR PROGRAM: PROGRAM and every library that it needs (libmlx5, libefa, librdmacm)
# find all their symbols in the stand-in.
set -eu
command -v "$2" >/dev/null || { echo "skipped: $2 is not installed (Debian: perftest)"; exit 77; }
status=0
printed=$(LD_BIND_NOW=1 timeout -k 2 300 "$1" run --soft-nic --no-soft-gpu -- "$2" --version 2>&1) ||
  status=$?
echo "$printed"
echo "$printed" | grep -q 'Version: ' || { echo "FAILED: exit status $status"; exit 1; }
