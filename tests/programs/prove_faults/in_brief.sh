#!/bin/sh
# in_brief.sh GDR: the whole default proof fits into a screen of 26 lines: where it ran, the devices that took
# part, a line for each mode, the speeds, the verdict. With -v every direction has its line.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$1" prove --soft >"$work/brief" || { cat "$work/brief"; echo "exit status $?"; exit 1; }
cat "$work/brief"
lines=$(wc -l <"$work/brief")
[ "$lines" -le 26 ] || { echo "$lines lines"; exit 1; }
sed -n 1p "$work/brief" | grep -q "^gdrkit [0-9].* on .*, 20..-.* UTC; Linux " || { echo "no head"; exit 1; }
for mode in "raw frame" "UD send" "RC send" "RC write" "RC write with imm" "RC read" "RC atomics"; do
  [ "$(grep -c "^  ok      $mode  *[0-9]* transfers in [0-9]* directions  [0-9]" "$work/brief")" = 1 ] ||
    { echo "not one line for: $mode"; exit 1; }
done
"$1" prove --soft -v --no-measure --sizes 1,4097 >"$work/full" || exit 1
[ "$(grep -Ec "^  ok      RC write  +(host|GPU|GPU VMM) → " "$work/full")" = 7 ] || { cat "$work/full"; echo "not 7 directions"; exit 1; }
