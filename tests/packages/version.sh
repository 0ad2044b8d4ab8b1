#!/bin/sh
# version.sh SOURCE BUILD: which version a build takes from git: a tag's number, or else the project's; the
# commit and its date; and that `gdr --version`, its documents and its packages say the same.
set -eu
script=$1/cmake/Version.cmake
gdr=$2/bin/gdr
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree
mkdir "$tree"
unset SOURCE_DATE_EPOCH
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
export GIT_AUTHOR_DATE="1700000000 +0000" GIT_COMMITTER_DATE="1700000000 +0000"

fail() { echo "FAILED: $*"; exit 1; }
in_tree() { git -c user.name=a -c user.email=a@b -C "$tree" "$@" >/dev/null; }
# expect VERSION NUMBER COMMIT DATE PACKAGE, with HASH for the commit's.
expect() {
  "${CMAKE:-cmake}" -D SOURCE="$tree" -D NUMBER=9.8.7 -D CODE="$work/built.cc" -D PACKAGE="$work/package.cmake" \
    -P "$script"
  hash=$(git -C "$tree" rev-parse --short=7 HEAD 2>/dev/null) || hash=
  value=$(echo "{\"$1\", \"$2\", \"$3\", \"$4\"}" | sed "s/HASH/$hash/g")
  grep -qF "$value" "$work/built.cc" || fail "not $value: $(grep kBuilt "$work/built.cc")"
  package=$(echo "$5" | sed "s/HASH/$hash/g")
  grep -qF "(GDR_PACKAGE_VERSION \"$package\")" "$work/package.cmake" ||
    fail "not $package: $(cat "$work/package.cmake")"
}

expect 9.8.7 9.8.7 unknown "" 9.8.7
SOURCE_DATE_EPOCH=86400 expect 9.8.7 9.8.7 unknown 1970-01-02 9.8.7
if command -v git >/dev/null; then
  in_tree init -q -b main
  echo one >"$tree/file"
  in_tree add file
  in_tree commit -m one
  expect 9.8.7+gHASH 9.8.7 HASH 2023-11-14 9.8.7
  SOURCE_DATE_EPOCH=86400 expect 9.8.7+gHASH 9.8.7 HASH 1970-01-02 9.8.7
  stamp=$(stat -c %y "$work/built.cc")
  SOURCE_DATE_EPOCH=86400 expect 9.8.7+gHASH 9.8.7 HASH 1970-01-02 9.8.7
  [ "$stamp" = "$(stat -c %y "$work/built.cc")" ] || fail "written anew though nothing has changed"
  echo two >"$tree/file"
  expect 9.8.7+gHASH.dirty 9.8.7 HASH-dirty 2023-11-14 9.8.7
  in_tree commit -a -m two
  in_tree tag -m release v1.2.3
  in_tree tag another-tag
  expect 1.2.3 1.2.3 HASH 2023-11-14 1.2.3
  echo three >"$tree/file"
  expect 1.2.3+gHASH.dirty 1.2.3 HASH-dirty 2023-11-14 1.2.3+gHASH.dirty
  in_tree commit -a -m three
  expect 1.2.3+1.gHASH 1.2.3 HASH 2023-11-14 1.2.3+1.gHASH
else
  echo "git is not installed: only builds without it were tried"
fi

said=$("$gdr" --version)
echo "$said" | head -n 1 | grep -Eqx 'gdr [0-9]+\.[0-9]+\.[0-9]+ \(commit (unknown|[0-9a-f]{7,}(-dirty)?(, [0-9-]{10})?)\)' ||
  fail "first line of gdr --version: $said"
echo "$said" | sed -n 2p | grep -Eqx '[A-Za-z]+ build, (GCC|Clang) .*, .*, glibc 2\.[0-9]+ or newer' ||
  fail "second line of gdr --version: $said"
version=$(sed -n 's/^const Built kBuilt = {"\([^"]*\)".*/\1/p' "$2/src/tools/version/built.cc")
[ -n "$version" ] || fail "no version in the build folder"
for command in "list --json --soft" "topo --json"; do
  # shellcheck disable=SC2086  # several words
  "$gdr" $command | grep -qF "\"version\": \"$version\"" || fail "gdr $command: without \"version\": \"$version\""
done
