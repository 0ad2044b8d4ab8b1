#!/bin/sh
# ./gdr before the program is there: what it says when packages are missing and cannot be installed,
# which commands it gives when they can, and that a second call builds nothing. The tools of the
# system are replaced by scripts, so that nothing is installed or compiled here.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree
tools=$work/tools
mkdir -p "$tree" "$tools"
cp -r "$1/gdr" "$1/scripts" "$1/cmake" "$1/CMakeLists.txt" "$1/CMakePresets.json" "$tree"
mkdir "$tree/src"
echo one >"$tree/src/a.cc"

fail() { echo "FAILED: $*"; exit 1; }
tool() { printf '#!/bin/sh\n%s\n' "$2" >"$tools/$1"; chmod +x "$tools/$1"; }
expect() { case $output in *"$1"*) ;; *) fail "'$1' is not in: $output" ;; esac; }

# call EXPECTED-STATUS ARGS...
call() {
  expected=$1
  shift
  status=0
  output=$(PATH="$tools:$PATH" "$tree/gdr" "$@" 2>&1 </dev/null) || status=$?
  [ "$status" -eq "$expected" ] || fail "exit status $status instead of $expected: $output"
}

tool apt-get "echo \"apt-get \$*\" >>$work/calls"
tool sudo 'exit 1'
tool id 'echo 1000'
tool dpkg-query 'case $* in *libfmt-dev*) exit 1 ;; *) printf installed ;; esac'

tool pkg-config 'case $* in *fmt*) exit 1 ;; esac'

call 2 topo
expect "As root: apt-get install -y --no-install-recommends --no-upgrade libfmt-dev"
[ ! -e "$work/calls" ] || fail "apt-get was called without the right to"
# A page or a number is printed at once.
call 0 --help
[ "$output" = "$(cat "$1/scripts/help.txt")" ] || fail "not the help: $output"
[ "$output" = "$("$2/bin/gdr" --help)" ] || fail "scripts/help.txt is not what gdr --help prints"
call 0 --version
# The program, which is not built here, also tells its commit.
[ "$output" = "$("$2/bin/gdr" --version | sed -n '1s/ (.*//p')" ] || fail "not the version of the program: $output"

call 0 help
[ "$output" = "$(cat "$1/scripts/help.txt")" ] || fail "not the help: $output"
call 0 version
[ "$output" = "$("$2/bin/gdr" version | sed -n '1s/ (.*//p')" ] || fail "not the version of the program: $output"
# A shell that completes a word never starts a build.
call 0 __complete -- pro
[ -z "$output" ] || fail "completed without a program: $output"

tool id 'echo 0'
tool dpkg-query 'case $* in *libfmt-dev* | *ninja*) exit 1 ;; *) printf installed ;; esac'
tool ninja 'exit 1'
tool cmake "
echo \"cmake \$*\" >>$work/calls
case \$* in
  --version) echo 'cmake version 3.25.1' ;;
  *--preset*)
    echo 'CMAKE_HOME_DIRECTORY:INTERNAL=$tree' >$tree/build/CMakeCache.txt
    echo 'default all' >$tree/build/build.ninja ;;
  *--build*)
    name=gdr
    case \$* in *'--target gdr_first'*) name=gdr-first ;; esac
    mkdir -p $tree/build/bin
    printf '#!/bin/sh\necho program '\$name' \"\$@\"\nexit 7\n' >$tree/build/bin/\$name
    chmod +x $tree/build/bin/\$name ;;
esac"
call 7 prove --json
expect "the first call installs what is missing and builds gdrkit"
expect "installing: libfmt-dev
"
expect "program gdr-first prove --json"
grep -q '^apt-get .*install -y --no-install-recommends --no-upgrade libfmt-dev' "$work/calls" ||
  fail "not installed: $(cat "$work/calls")"

tool dpkg-query 'echo "dpkg-query was called" >&2; exit 1'
rm "$work/calls"
call 7 perf
expect "program gdr-first perf"
[ ! -e "$work/calls" ] || fail "what a proof needs was built again: $(cat "$work/calls")"
# Another command has the rest built, and from then on there is one program for all.
tool dpkg-query 'printf installed'
call 7 topo
expect "program gdr topo"
grep -q 'cmake --build .* --target all' "$work/calls" || fail "the rest was not built: $(cat "$work/calls")"
rm "$work/calls"
tool dpkg-query 'echo "dpkg-query was called" >&2; exit 1'
call 7 prove
expect "program gdr prove"
(cd / && call 7 again)
ln -s "$tree/gdr" "$work/link"
output=$("$work/link" x) || [ $? -eq 7 ] || fail "through a link: $output"
[ ! -e "$work/calls" ] || fail "an unchanged tree was built again: $(cat "$work/calls")"

tool dpkg-query 'printf installed'
echo two >>"$tree/src/a.cc"
call 7 changed
grep -q 'cmake --build' "$work/calls" || fail "a changed tree was not built again"

tool cmake 'echo "a.cc:1: error: expected a declaration"; exit 1'
echo three >>"$tree/src/a.cc"
call 2 broken
expect "a.cc:1: error: expected a declaration"
call 2 broken
expect "a.cc:1: error: expected a declaration"

# Another distribution: no dpkg-query, no apt-get.
rm "$tools"/*
for name in sh dirname readlink find sort cksum cat awk id mkdir tail rm touch tr sed nproc; do
  ln -s "$(command -v $name)" "$tools/$name"
done
tool dnf ''
status=0
output=$(PATH="$tools" "$tree/gdr" topo 2>&1) || status=$?
[ "$status" -eq 2 ] || fail "another distribution: exit status $status: $output"
expect "dnf install gcc-c++ cmake ninja-build"
