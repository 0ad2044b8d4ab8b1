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
# package may want others newer, or gone.
ask_to_upgrade() {
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

# time_left DONE ALL BEGUN: ", about N min left", by how long what is done has taken.
time_left() {
  elapsed=$(($(date +%s) - $3))
  [ "$elapsed" -ge 10 ] && [ "$1" -lt "$2" ] || return 0
  left=$((elapsed * ($2 - $1) / $1))
  if [ "$left" -ge 90 ]; then
    printf ', about %s min left' $(((left + 30) / 60))
  else
    printf ', about %s s left' "$left"
  fi
}

# show_progress: copies the build's output to the log; of it, a terminal sees one moving line and a
# pipe a line each quarter.
show_progress() {
  shown=-1
  begun=$(date +%s)
  while IFS= read -r line; do
    printf '%s\n' "$line"
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
  status_file=$log.status
  { status=0; "$@" 2>&1 || status=$?; echo $status >"$status_file"; } | show_progress >>"$log"
  status=$(cat "$status_file")
  rm -f "$status_file"
  [ "$status" -eq 0 ] && return
  tail -n 40 "$log" >&2
  die "failed: $* (the whole log: $log)"
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
  mkdir -p "$folder" 2>/dev/null || true
  [ -w "$folder" ] ||
    die "cannot write to $folder; run this once as the owner of the checkout, or set GDR_BUILD_DIR"
  exec 9>"$folder/.lock"
  if ! flock -n 9; then
    say "waiting for another build in $folder"
    flock 9
  fi
  log=$folder/build.log
  : >"$log"
  cd "$root" || exit 2
  if [ ! -f "$folder/build.ninja" ]; then
    say "configuring $folder"
    logged "$log" cmake --preset "$preset" -G Ninja -B "$folder"
  fi
  logged "$log" cmake --build "$folder" --target "$@"
  cd "$OLDPWD" || exit 2
  exec 9>&-
  umask "$mask"
}
