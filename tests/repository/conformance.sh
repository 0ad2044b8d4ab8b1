#!/bin/sh
# Every test that docs/conformance.md names is one.
set -eu
names=$(grep -oE '`[A-Za-z0-9/]+\.[A-Z][A-Za-z0-9]+`' "$1/docs/conformance.md" | tr -d '`')
[ "$(printf '%s\n' "$names" | wc -l)" -gt 50 ] || { echo "no names are found in it"; exit 1; }
# In a folder of its own: ctest begins its log anew, also to list tests, and the run that this test
# belongs to would lose what it has logged.
apart=$(mktemp -d)
trap 'rm -rf "$apart"' EXIT
printf 'subdirs("%s")\n' "$2" > "$apart/CTestTestfile.cmake"
tests=$("$(dirname "$CMAKE")/ctest" --test-dir "$apart" -N | sed -n 's/^ *Test *#[0-9]*: \([^ ]*\).*/\1/p')
failed=0
for name in $names; do
  # One with parameters is several tests, NAME/0 and on.
  printf '%s\n' "$tests" | grep -qxE "$name(/[A-Za-z0-9]+)?" || { echo "no test: $name"; failed=1; }
done
exit $failed
