#!/bin/sh
# cannot_build.sh SOURCE: ./gdr and ./test where they cannot build, or not at once. Each says in one line
# what was wrong, what was found and what to type, ends with 2, and goes on at the next call. The
# system's tools are replaced by scripts: nothing is installed or compiled.
set -eu
unset GDR_MAY_UPGRADE
work=$(readlink -f "$(mktemp -d)")
trap 'rm -rf "$work"' EXIT
tree=$work/tree
tools=$work/tools
folder="$work/a folder"
log=$work/calls
mkdir -p "$tree/src" "$tools"
cp -r "$1/gdr" "$1/test" "$1/scripts" "$1/cmake" "$1/CMakeLists.txt" "$1/CMakePresets.json" "$tree"
grep -E '^build +(g\+\+|libfmt|libibverbs|libjs)' "$1/scripts/packages.txt" >"$tree/scripts/packages.txt"
# A clone is as old as it is: the time of the sources here must not matter.
find "$tree" -exec touch -d '1 hour ago' {} +

fail() { echo "FAILED: $case: $*"; exit 1; }
tool() { rm -f "$tools/$1"; printf '#!/bin/sh\n%s\n' "$2" >"$tools/$1"; chmod +x "$tools/$1"; }
expect() { case $output in *"$1"*) ;; *) fail "'$1' is not in: $output" ;; esac; }
never() { case $output in *"$1"*) fail "'$1' is in: $output" ;; esac; }
called() { grep -q -e "$1" "$log" || fail "not called: $1: $(cat "$log")"; }

# call EXPECTED-STATUS [COMMAND ARGS...]: no command of this machine is there, but those named below. In
# a session of its own, which a tool can interrupt.
call() {
  expected=$1
  shift
  [ $# -gt 0 ] || set -- "$tree/gdr" topo
  status=0
  : >"$log"
  PATH=$tools setsid -w "$@" >"$work/output" 2>&1 </dev/null || status=$?
  output=$(cat "$work/output")
  [ "$status" -eq "$expected" ] || fail "exit status $status instead of $expected: $output"
}

# refused TEXT...: in the last of at most two lines; the first says what is to be done.
refused() {
  [ "$(grep -vc -e ': configuring ' -e ': installing: ' "$work/output")" -le 2 ] || fail "more than one line: $output"
  for text; do
    case $(tail -n 1 "$work/output") in *"$text"*) ;; *) fail "'$text' is not in the last line of: $output" ;; esac
  done
}

# again CASE: the next calls begin in an empty build folder, with tools that do what they should.
again() { case=$1; rm -rf "$folder"; healthy; }
healthy() { rm -rf "$tools"; cp -a "$work/healthy" "$tools"; }

for name in sh awk cat chmod cksum date dirname find flock grep mkdir readlink rm sed setsid sort tail \
  touch tr; do
  ln -s "$(command -v $name)" "$tools/$name"
done
tool nproc 'echo 2'
tool id 'echo 0'
tool dpkg-query 'printf installed'
tool apt-get "echo \"apt-get \$*\" >>'$log'"
tool env 'shift; exec "$@"'
tool df "printf 'head\n- - - 9000000\n'"
tool ninja ''
tool c++ ''
tool cmake "
echo \"cmake \$*\" >>'$log'
case \$* in
  --version) echo 'cmake version 3.25.1' ;;
  *--preset*)
    printf 'CMAKE_HOME_DIRECTORY:INTERNAL=%s\n' \"\$PWD\" >'$folder/CMakeCache.txt'
    printf 'default all\n' >'$folder/build.ninja' ;;
  *--build*)
    mkdir -p '$folder/bin'
    printf '#!/bin/sh\nexit 7\n' >'$folder/bin/gdr'
    chmod +x '$folder/bin/gdr' ;;
esac"
cp -a "$tools" "$work/healthy"
export GDR_BUILD_DIR="$folder"

again 'a full disk, as the compiler says'
tool cmake "
case \$* in
  --version) echo 'cmake version 3.25.1' ;;
  *--preset*) printf 'default all\n' >'$folder/build.ninja' ;;
  *--build*) echo 'x.cc: fatal error: cannot write: No space left on device'; exit 1 ;;
esac"
tool df "printf 'head\n- - - 30720\n'"
call 2
refused "no room left ($folder: 30 MB free, " "GDR_BUILD_DIR" "type the same again"
never 'fatal error'
case='a full disk, of which nobody says anything'
tool cmake 'case $* in --version) echo "cmake version 3.25.1" ;; *) exit 1 ;; esac'
tool df "printf 'head\n- - - 204\n'"
call 2
refused "no room left ($folder: 0 MB free, "
healthy
call 7

again 'a full disk, when all is built'
mkdir -p "$folder/.built-from"
call 7
expect "no room for $folder/.built-from"

for lost in cmake ninja c++; do
  again "no $lost, though it is installed"
  rm "$tools/$lost"
  call 2
  refused "no $lost, though its package is installed" "PATH ($tools)"
  healthy
  call 7
done

again 'an old cmake'
tool cmake 'echo "cmake version 3.16.3"'
call 2
refused "cmake 3.25 or newer is needed, and $tools/cmake is 3.16.3. Type: "
healthy
call 7

again 'an old compiler'
tool c++ 'case $* in --version) echo "g++ (Some) 9.4.0" ;; *) exit 1 ;; esac'
call 2
refused "no C++20 from c++ (g++ (Some) 9.4.0)" "CXX=g++-12"
tool g++-12 ''
CXX=g++-12 call 7

again 'another distribution'
rm "$tools/apt-get" "$tools/dpkg-query" "$tools/c++"
tool find 'echo "find: unrecognized: -printf" >&2; exit 1'
for manager in pacman zypper apk; do
  tool $manager ''
  call 2
  refused "whose packages gdrkit does not know: c++ " "pc:libibverbs" "with $manager " "type the same again"
  rm "$tools/$manager"
done
call 2
refused "with its package manager"
tool dnf ''
call 2
refused "As root: dnf install gcc-c++ "

again 'no folder to write to'
for GDR_BUILD_DIR in /proc/gdr "$tools/id"; do
  call 2
  refused "cannot write to $GDR_BUILD_DIR (" "Set GDR_BUILD_DIR"
done
GDR_BUILD_DIR=/proc/gdr
call 2 "$tree/test"
refused "cannot write to /proc/gdr ("
GDR_BUILD_DIR=$folder

again 'a relative folder'
cd "$work"
GDR_BUILD_DIR="a folder"
call 7
GDR_BUILD_DIR=$folder
: >"$log"
call 7
[ ! -s "$log" ] || fail "built again: $(cat "$log")"

for signal in INT KILL; do
  for when in preset build; do
    again "interrupted at --$when by $signal"
    tool cmake "
case \$* in
  --version) echo 'cmake version 3.25.1' ;;
  *--$when*) echo 'build half' >'$folder/build.ninja'; kill -$signal 0; exit 1 ;;
  *--preset*) printf 'default all\n' >'$folder/build.ninja' ;;
esac"
    if [ $signal = INT ]; then
      call 2
      refused "interrupted; type the same again to go on from here"
    else
      call 137
    fi
    healthy
    call 7
    never waiting
    # What was left half written counts as nothing.
    called 'cmake --fresh --preset release'
  done
done

again 'another build, begun by somebody who is slow'
mkdir -p "$folder"
echo 77 >"$folder/.lock"
tool flock '[ "$1" != -n ]'
call 7
expect "waiting for another build in $folder, begun by process 77"

again 'a checkout that was moved'
call 7
mv "$tree" "$work/moved here"
echo changed >>"$work/moved here/src/a.cc"
call 7 "$work/moved here/gdr" topo
called 'cmake --fresh --preset'
mv "$work/moved here" "$tree"

again 'only root can read what root builds'
umask 077
call 7
umask 022
[ "$(stat -c %a "$folder/.built-from")" = 644 ] || fail "$(ls -la "$folder")"

again 'sources from the future'
touch -d '2 days' "$tree/CMakeLists.txt"
call 2
refused "$tree/CMakeLists.txt is newer than the clock of this machine (" "Set the clock, or type: find "
touch -d '1 hour ago' "$tree/CMakeLists.txt"
call 7
case='built in the future'
touch -d '2 days' "$folder/.ninja_log"
echo changed >>"$tree/src/a.cc"
call 7
expect "building all of it again"
called 'cmake --fresh --preset'

again 'how long it takes, by what was built'
mkdir -p "$folder"
printf '# ninja log v5\n0\t4000\t1\ta.o\thash\n1000\t5000\t1\tb.o\thash\n' >"$folder/.ninja_log"
tool cmake "$(sed 1d "$tools/cmake")
case \$* in *--build*) echo '[1/61] Building a.o' ;; esac"
call 7
expect "building 1/61, about 2 min left"

again 'no network'
tool dpkg-query 'case $* in *libfmt-dev*) exit 1 ;; *) printf installed ;; esac'
tool pkg-config 'exit 1'
tool apt-get "
echo \"apt-get \$*\" >>'$log'
case \$* in
  *update*) echo 'W: Failed to fetch some list  Temporary failure resolving' >&2 ;;
  *' -s '* | '-s '*) ;;
  *install*) echo 'E: Unable to locate package libfmt-dev. ' >&2; exit 100 ;;
esac"
call 2
refused "could not install the packages; Unable to locate package libfmt-dev; Failed to fetch some list" \
  ". As root: apt-get install "

again 'what is installed stays'
tool dpkg-query 'case $* in *libfmt-dev*) exit 1 ;; *) printf installed ;; esac'
tool pkg-config 'exit 1'
tool apt-get "
case \$* in
  '-s '*) printf 'Inst libfmt-dev (9 all)\nInst libc6 [2.36-9] (2.36-10 all)\nRemv other [1]\n' ;;
  *) echo \"apt-get \$*\" >>'$log' ;;
esac"
call 2
expect "nothing installed: it would upgrade or remove libc6 other. If that is right, as root: apt-get install"
! grep -q install "$log" || fail "installed without a question"
call 7 sh -c 'GDR_MAY_UPGRADE=1 exec "$0" topo' "$tree/gdr"
called 'apt-get .*install'
