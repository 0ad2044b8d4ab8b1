#!/bin/sh
# expect.sh STATUS WORDS COMMAND...: the command's exit status, and what it prints.
set -eu
expected=$1
words=$2
shift 2
status=0
out=$("$@") || status=$?
[ "$status" -eq "$expected" ] && [ "$out" = "$words" ] ||
  { echo "FAILED: exit status $status and '$out', not $expected and '$words'"; exit 1; }
