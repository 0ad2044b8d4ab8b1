#!/bin/sh
# ./test before there are tests: what the build does not need is installed while it runs, no test
# starts before it is there, and none is lost without a word. The tools of the system are replaced by
# scripts, so that nothing is installed, compiled or tested here.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree
tools=$work/tools
mkdir -p "$tree" "$tools"
cp -r "$1/test" "$1/scripts" "$tree"

fail() { echo "FAILED: $*"; exit 1; }
tool() { printf '#!/bin/sh\n%s\n' "$2" >"$tools/$1"; chmod +x "$tools/$1"; }
expect() { case $output in *"$1"*) ;; *) fail "'$1' is not in: $output" ;; esac; }

# call EXPECTED-STATUS: no command of this machine is there, but those that the scripts use.
call() {
  status=0
  rm -rf "$work/said" "$tree/build"
  PATH="$tools" "$tree/test" >"$work/output" 2>&1 </dev/null || status=$?
  output=$(cat "$work/output")
  [ "$status" -eq "$1" ] || fail "exit status $status instead of $1: $output"
}

for name in sh chmod date df dirname find readlink sed awk cat tr mkdir rm touch wc grep tail flock env sleep; do
  ln -s "$(command -v $name)" "$tools/$name"
done
tool id 'echo 0'
tool nproc 'echo 3'
tool dpkg-query 'case $* in *sparse*) exit 1 ;; *) printf installed ;; esac'
# Goes on once the build has begun, or after a time in which it would have.
slow_installation="
case \$* in -s* | *update*) exit 0 ;; esac
tries=0
until [ -e $work/begun ] || [ \$tries -eq 100 ]; do sleep 0.1; tries=\$((tries + 1)); done
[ -e $work/begun ] && echo meanwhile >>$work/said
sleep 1
echo installed >>$work/said"
tool apt-get "$slow_installation"
tool ninja ''
tool c++ ''
tool cmake "case \$* in --version) echo 'cmake version 3.25.1' ;; *--build*) touch $work/begun ;; esac"
tool ctest "echo \"ctest \$*\" >>$work/said; exit 5"

call 5
expect "installing: sparse"
[ "$(sed -n 1,2p "$work/said")" = "meanwhile
installed" ] || fail "not installed while the build ran, and before the tests: $(cat "$work/said")"
grep -q '^ctest .* -j 10 .*-LE \^long\$' "$work/said" || fail "tests: $(cat "$work/said")"

# Whoever may not install is told so at once, and what the packages are.
rm -f "$work/begun"
tool id 'echo 1000'
call 5
expect "missing packages, and no right to install them. As root: apt-get install -y --no-install-recommends --no-upgrade sparse"
expect "going on without; the tests that need them are skipped"

tool id 'echo 0'
tool apt-get 'exit 1'
call 5
expect "could not install the packages. As root: apt-get install -y --no-install-recommends --no-upgrade sparse"
expect "going on without; the tests that need them are skipped"

# A build that fails leaves no installation behind.
rm -f "$work/begun"
tool apt-get "$slow_installation"
tool cmake "case \$* in --version) echo 'cmake version 3.25.1' ;; *--build*) touch $work/begun; exit 1 ;; esac"
call 2
[ "$(tail -n 1 "$work/said" 2>/dev/null)" = installed ] || fail "the installation was left to itself, or tests ran"
