#!/bin/sh
# Every C++ file looks as clang-format wants it.
set -eu
cd "$1"
command -v clang-format >/dev/null || { echo "skipped: no clang-format (package clang-format)"; exit 77; }
folders=
for folder in src tests bench; do
  [ ! -d "$folder" ] || folders="$folders $folder"
done
# shellcheck disable=SC2086  # a list of plain names
find $folders -type f \( -name '*.cc' -o -name '*.h' -o -name '*.c' -o -name '*.cu' \) -print0 |
  xargs -0 clang-format --dry-run -Werror
