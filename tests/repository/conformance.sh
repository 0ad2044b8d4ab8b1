#!/bin/sh
# Every test that docs/conformance.md names is one.
set -eu
names=$(grep -oE '`[A-Za-z0-9/]+\.[A-Z][A-Za-z0-9]+`' "$1/docs/conformance.md" | tr -d '`')
[ "$(printf '%s\n' "$names" | wc -l)" -gt 50 ] || { echo "no names are found in it"; exit 1; }
tests=$("$(dirname "$CMAKE")/ctest" --test-dir "$2" -N | sed -n 's/^ *Test *#[0-9]*: \([^ ]*\).*/\1/p')
failed=0
for name in $names; do
  # One with parameters is several tests, NAME/0 and on.
  printf '%s\n' "$tests" | grep -qxE "$name(/[A-Za-z0-9]+)?" || { echo "no test: $name"; failed=1; }
done
exit $failed
