#!/bin/sh
# expect_failure.sh GDR FAULT PHRASE [--row ROW] [PROVE-OPTIONS...]
# `gdr prove` under a fault of the local path must say FAILED with exit status 1 and name what it saw;
# with ROW, the line of the transfer that begins so must have failed, too.
set -u
gdr=$1 fault=$2 phrase=$3 row=
shift 3
[ "${1-}" != --row ] || { row=$2; shift 2; }
output=$(GDR_FAULT=$fault "$gdr" prove --soft --no-measure "$@" 2>&1)
status=$?
printf '%s\n' "$output"
if [ "$status" -ne 1 ]; then
  echo "exit status $status instead of 1"
  exit 1
fi
# The verdict and, below it, what was seen: the lines of single transfers above do not count.
verdict=$(printf '%s\n' "$output" | sed -n '/^FAILED/,$p')
printf '%s\n' "$verdict" | grep -q "^  next  " || { echo "no next command"; exit 1; }
printf '%s\n' "$verdict" | grep -E "^  seen .*$phrase" >/dev/null || {
  echo "nothing seen that says: $phrase"
  exit 1
}
[ -z "$row" ] || printf '%s\n' "$output" | grep -E "^  FAILED  $row +[0-9]+ of .*$phrase" >/dev/null || {
  echo "no failed transfer '$row' that says: $phrase"
  exit 1
}
