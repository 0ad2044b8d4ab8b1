#!/bin/sh
# in_a_terminal.sh GDR: in a terminal of 80 columns no line is longer, errors neither, and a progress bar
# shows from the first long step on, within a large transfer too; a pipe gets none.
set -u
# Of BSD's script(1), whose options are others, there is a package as well.
script --version 2>/dev/null | grep -q util-linux ||
  { echo "skipped: no script(1) of util-linux, which makes terminals (package bsdutils)"; exit 77; }
script -qec true /dev/null </dev/null >/dev/null 2>&1 ||
  { echo "skipped: no pseudo-terminal can be had here"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
options="--soft --modes write --memory alloc --no-measure"
terminal() { TERM=xterm NO_COLOR=1 script -qec "stty cols 80; $*" /dev/null </dev/null | tr -d '\r'; }

terminal "$1" prove $options --sizes 128M >"$work/large"
cat "$work/large"
for phrase in " 0%  making buffers" "25%  RC write, host → GPU"; do
  grep -q -- "$phrase" "$work/large" || { echo "no bar that says: $phrase"; exit 1; }
done
"$1" prove $options --sizes 1,4K >"$work/pipe"
grep -q "%" "$work/pipe" && { echo "a bar in a pipe"; exit 1; }

terminal "$1" prove --soft --sizes 1,4K >"$work/screen"
terminal "$1" prove -v --soft --sizes 1,4K --no-measure >>"$work/screen"
terminal "$1" prove --wrong-option >>"$work/screen"
terminal "$1" prove --soft --nic mlx5_0 >>"$work/screen"
# The bar, which each line that follows clears, counts as no line.
sed 's/.*\x1b\[K//' "$work/screen" >"$work/lines"
cat "$work/lines"
LC_ALL=C.UTF-8 grep -E '.{81}' "$work/lines" && { echo "these are wider than 80 columns"; exit 1; }
exit 0
