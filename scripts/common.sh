# shellcheck shell=sh
# Functions that ./gdr and ./test share; POSIX sh. The caller sets `root` (the repository) and `me`
# (the name in front of its messages). Everything here ends with exit status 2 when it fails: the
# program itself has not run yet, and 1 would read as its verdict.
: "${root:?}" "${me:?}"

# Words of the command line are in it: what moves a cursor or changes a colour is left out.
say() { printf '%s: %s\n' "$me" "$(printf '%s' "$*" | LC_ALL=C tr -c '[:print:]' '?')" >&2; }
die() { say "$@"; exit 2; }

# missing COLUMN GROUP...: the packages that are not there, by their name in that column. What the
# package manager does not know may have come another way (a newer cmake, for instance), so a package
# counts as missing only if its command, module or file is missing, too. What a distribution has no
# package of is not missing there: the configuration says how it is done without.
missing() {
  column=$1
  shift
  awk -v column="$column" -v groups=" $* " \
    '!/^#/ && NF && index(groups, " " $1 " ") && (column < 3 || $3 != "-") { print $2, $column, $4 }' \
    "$root/scripts/packages.txt" |
    while read -r debian package probe; do
      status=$(dpkg-query -W -f '${db:Status-Status}' "$debian" 2>/dev/null) || status=
      [ "$status" != installed ] || continue
      case $probe in
        pc:*) pkg-config --exists "${probe#pc:}" 2>/dev/null ;;
        py:*) python3 -c "import ${probe#py:}" 2>/dev/null ;;
        /*) [ -e "$probe" ] ;;
        *) command -v "$probe" >/dev/null 2>&1 ;;
      esac || printf '%s ' "$package"
    done
}

# need GROUP...: installs what is missing, or says exactly what to install.
need() {
  if ! command -v dpkg-query >/dev/null 2>&1 || ! command -v apt-get >/dev/null 2>&1; then
    names=$(missing 3 "$@")
    [ -z "$names" ] && return
    ! command -v dnf >/dev/null 2>&1 || die "missing packages. As root: dnf install ${names% }"
    elsewhere=$(sed -n 's/^PRETTY_NAME="*\([^"]*\)"*$/\1/p' /etc/os-release 2>/dev/null) || elsewhere=
    manager="its package manager"
    for name in zypper pacman apk; do
      ! command -v "$name" >/dev/null 2>&1 || manager=$name
    done
    names=$(missing 4 "$@")
    die "missing on ${elsewhere:-this system}, whose packages gdrkit does not know: ${names% }. Install what" \
      "brings these with $manager (pc: a module of pkg-config, py: one of Python), then type the same again"
  fi
  names=$(missing 2 "$@")
  [ -z "$names" ] && return
  install="apt-get install -y --no-install-recommends --no-upgrade ${names% }"
  if [ "$(id -u)" -eq 0 ]; then
    as_root=
  elif command -v sudo >/dev/null 2>&1 && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
    as_root=sudo
  else
    die "missing packages, and no right to install them. As root: $install"
  fi
  say "installing: ${names% }"
  quiet="env DEBIAN_FRONTEND=noninteractive"
  # A fresh machine has no package lists; an update that fails need not matter if it has them.
  # shellcheck disable=SC2086  # the words are meant to be split
  lists=$($as_root $quiet apt-get -q -o DPkg::Lock::Timeout=300 update 2>&1 >/dev/null) || true
  ask_to_upgrade
  # What apt-get says goes on to where messages go, but its errors come in the last line.
  # shellcheck disable=SC2086
  {
    errors=$($as_root $quiet apt-get -q -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 \
      install -y --no-install-recommends --no-upgrade $names 2>&1 >&3 3>&-) ||
      die "could not install the packages$(because "$errors")$(because "$lists"). As root: $install"
  } 3>&2
}

# because TEXT: the first error or warning in what apt-get has said.
because() {
  printf '%s\n' "$1" | sed -n '/^[EW]: */{s//; /; s/[. ]*$//; p; q;}'
}

# ask_to_upgrade: what is there stays at its version: this is not the time to upgrade a host. But a new
# package may want others newer, or gone. Machines that live for one run say GDR_MAY_UPGRADE=1.
ask_to_upgrade() {
  [ -z "${GDR_MAY_UPGRADE:-}" ] || return 0
  # shellcheck disable=SC2086
  changed=$(LC_ALL=C apt-get -s install --no-install-recommends --no-upgrade $names 2>/dev/null |
    sed -n 's/^Inst \([^ ]*\) \[.*/\1/p; s/^Remv \([^ ]*\) .*/\1/p' | tr '\n' ' ')
  [ -n "$changed" ] || return 0
  if [ -t 0 ] && [ -t 2 ]; then
    say "this upgrades or removes packages that are installed: ${changed% }"
    printf '%s: go on? [y/N] ' "$me" >&2
    read -r answer || answer=
    case $answer in [yY]*) return ;; esac
  fi
  die "nothing installed: it would upgrade or remove ${changed% }. If that is right, as root:" \
    "apt-get install --no-install-recommends --no-upgrade ${names% }"
}

# want GROUP...: as need, but what cannot be installed leaves out only the tests that use it.
want() {
  (need "$@") || say "going on without; the tests that need them are skipped"
}

# time_left DONE ALL BEGUN: ", about N min left", by how long what is done has taken. What comes first
# takes longest (precompiled headers), so that until a sixteenth is done earlier builds count.
time_left() {
  elapsed=$(($(date +%s) - $3))
  [ "$1" -lt "$2" ] || return 0
  if [ "$elapsed" -ge 10 ] && [ $((16 * $1)) -ge "$2" ]; then
    left=$((elapsed * ($2 - $1) / $1))
  elif [ "$step_time" -gt 0 ]; then
    left=$((step_time * ($2 - $1) / 1000))
  else
    return 0
  fi
  if [ "$left" -ge 90 ]; then
    printf ', about %s min left' $(((left + 30) / 60))
  else
    printf ', about %s s left' "$left"
  fi
}

# earlier_steps FOLDER: milliseconds from one step to the next, by what was built there.
earlier_steps() {
  [ -f "$1/.ninja_log" ] || { echo 0; return; }
  awk -v jobs="$(nproc)" '!/^#/ { steps++; time += $2 - $1 } END { printf "%d", steps ? time / steps / jobs : 0 }' \
    "$1/.ninja_log"
}

# show_progress: copies the build's output to the log; of it, a terminal sees one moving line and a
# pipe a line each quarter.
show_progress() {
  shown=-1
  step_time=${step_time:-0}
  begun=$(date +%s)
  while IFS= read -r line; do
    printf '%s\n' "$line" 2>/dev/null || true  # a full disk must not end what writes here
    counter=${line%%]*}
    case $line in
      \[[0-9]*/[0-9]*\]*) ;;
      *) continue ;;
    esac
    done_steps=${counter#[}
    all_steps=${done_steps#*/}
    done_steps=${done_steps%/*}
    case $done_steps$all_steps in *[!0-9]*) continue ;; esac
    [ "$all_steps" -gt 4 ] || continue
    if [ -t 2 ]; then
      printf '\r\033[K%s: building %s/%s%s ' "$me" "$done_steps" "$all_steps" \
        "$(time_left "$done_steps" "$all_steps" "$begun")" >&2
    elif [ $((4 * done_steps / all_steps)) -ne "$shown" ]; then
      shown=$((4 * done_steps / all_steps))
      say "building $done_steps/$all_steps$(time_left "$done_steps" "$all_steps" "$begun")"
    fi
  done
  [ ! -t 2 ] || printf '\r\033[K' >&2
}

# logged LOG COMMAND...: appends to the log; on failure shows the end of it.
logged() {
  log=$1
  shift
  # A full disk has no room for the status either, so it comes through a pipe. Who interrupts this
  # interrupts the command, which is waited for.
  status=$({
    trap : INT
    { trap : INT; status=0; "$@" 2>&1 3>&- || status=$?; echo "$status" >&3; } |
      { trap '' INT; show_progress >>"$log"; }
  } 3>&1)
  [ "$status" = 0 ] && return
  disk_is_full "$log" && die "failed: no room left ($free_space). Free some," \
    "or set GDR_BUILD_DIR and TMPDIR to folders elsewhere, then type the same again"
  tail -n 40 "$log" >&2
  die "failed: $* (the whole log: $log)"
}

# disk_is_full LOG: by what the log says, or by what is free; not every program says it.
disk_is_full() {
  free_space=
  full=
  ! grep -qE 'No space left on device|Disk quota exceeded' "$1" || full=1
  for place in "${1%/*}" "${TMPDIR:-/tmp}"; do
    free=$(df -Pk "$place" 2>/dev/null | awk 'NR == 2 { print int($4 / 1024) }')
    [ "${free:-16}" -ge 16 ] || full=1
    free_space="$free_space${free_space:+, }$place: ${free:-?} MB free"
  done
  [ -n "$full" ]
}

interrupted() {
  trap - INT EXIT
  [ ! -t 2 ] || printf '\r\033[K' >&2
  die "interrupted; type the same again to go on from here: what was built is kept"
}
trap interrupted INT

# check_tools: what is there but cannot build this is said before a configuration fails at length.
check_tools() {
  for tool in cmake ninja "${CXX:-c++}"; do
    command -v "${tool%% *}" >/dev/null 2>&1 ||
      die "no ${tool%% *}, though its package is installed: add its folder to PATH ($PATH)," \
        "or install the package again"
  done
}

# check_versions: before the configuration, which would remember an old compiler.
check_versions() {
  version=$(cmake --version 2>/dev/null | sed -n '1s/^[^0-9]*\([0-9]*\)\.\([0-9]*\).*/\1 \2/p')
  version=${version:-0 0}
  [ $((${version% *} * 100 + ${version#* })) -ge 325 ] ||
    die "cmake 3.25 or newer is needed, and $(command -v cmake) is $(cmake --version 2>&1 | sed -n '1s/.* //p')." \
      "Type: python3 -m pip install --user cmake; PATH=~/.local/bin:\$PATH ./$me"
  # shellcheck disable=SC2086  # it may have options
  printf '#include <ranges>\n#include <span>\nenum class A { b };\nusing enum A;\n' |
    ${CXX:-c++} -std=c++20 -fsyntax-only -x c++ - >/dev/null 2>&1 ||
    die "no C++20 from ${CXX:-c++} ($(${CXX:-c++} --version 2>&1 | sed -n 1p)), and GCC 12 has it." \
      "Where that is installed, type: CC=gcc-12 CXX=g++-12 ./$me"
}

# is_configured FOLDER: to its end, and for this checkout, not for another or its former place.
is_configured() {
  [ "$(tail -n 1 "$1/build.ninja" 2>/dev/null)" = "default all" ] &&
    grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$1/CMakeCache.txt" 2>/dev/null
}

# check_times FOLDER: times that are still to come make ninja configure for ever, or leave out changes.
check_times() {
  newer=$(find "$root/CMakeLists.txt" "$root/cmake" "$root/src" -type f -newermt '1 minute' 2>/dev/null |
    sed -n 1p)
  [ -z "$newer" ] ||
    die "$newer is newer than the clock of this machine ($(date)). Set the clock, or type:" \
      "find '$root' -newermt now -exec touch {} +"
  [ -n "$(find "$1" -maxdepth 1 -name .ninja_log -newermt '1 minute' 2>/dev/null)" ] || return 0
  say "what is in $1 was built later than now ($(date)); building all of it again"
  rm -f "$1/.ninja_log" "$1/build.ninja"
}

# make_folder FOLDER: with a file to lock, in which its builder writes who it is.
make_folder() {
  why=$({ mkdir -p "$1" && : >>"$1/.lock"; } 2>&1) ||
    die "cannot write to $1 (${why##*: }). Set GDR_BUILD_DIR to a folder where you can," \
      "or run this once as the owner of the checkout"
}

# build PRESET FOLDER TARGET...: configures on the first call, then builds the targets.
# Two at once take turns.
build() {
  preset=$1
  folder=$2
  shift 2
  # Others must be able to run what root has built; the program itself gets the caller's own mask.
  mask=$(umask)
  umask 022
  make_folder "$folder"
  chmod +x "$folder/.lock" 2>/dev/null || true
  [ -x "$folder/.lock" ] ||
    die "no program in $folder can be run (mounted noexec). Set GDR_BUILD_DIR to a folder elsewhere"
  exec 9>>"$folder/.lock"
  if ! flock -n 9; then
    say "waiting for another build in $folder, begun by process $(cat "$folder/.lock")"
    flock 9
  fi
  echo $$ >"$folder/.lock" || true
  check_tools
  check_times "$folder"
  log=$folder/build.log
  : >"$log"
  cd "$root" || exit 2
  if ! is_configured "$folder"; then
    check_versions
    say "configuring $folder"
    logged "$log" cmake --fresh --preset "$preset" -G Ninja -B "$folder"
  elif [ "$preset" = test ] && ! grep -qx 'GDR_BUILD_TESTS:BOOL=ON' "$folder/CMakeCache.txt"; then
    say "configuring $folder for the tests, too"
    logged "$log" cmake --preset test -G Ninja -B "$folder"
  fi
  step_time=$(earlier_steps "$folder")
  logged "$log" cmake --build "$folder" --target "$@"
  cd "$OLDPWD" || exit 2
  exec 9>&-
  umask "$mask"
}
