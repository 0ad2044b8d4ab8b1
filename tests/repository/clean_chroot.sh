#!/bin/bash
# Tries a clean machine: debootstraps a minimal system, puts a clean clone of HEAD into it, and runs
# ./gdr and ./test there as the first commands typed. Not part of ./test: it needs root, debootstrap
# and some minutes.
#
#   tests/repository/clean_chroot.sh [--suite SUITE] [--keep FOLDER] [--user] [COMMAND...]
#
# Each COMMAND is one shell line, run in the clone; by default './gdr prove' and './test', each in a
# system of its own. --user runs them as an ordinary user without sudo, --keep leaves the bare system
# in FOLDER and starts from it the next time. Mirror, proxies and keys are those of this machine's
# apt. The sequence is unpacked anew for each command, and everything mounted is unmounted.
set -euo pipefail

suite=bookworm
keep=
user=
while [ $# -gt 0 ]; do
  case $1 in
    --suite) suite=$2; shift 2 ;;
    --keep) keep=$2; shift 2 ;;
    --user) user=1; shift ;;
    -*) echo "clean_chroot: unknown option '$1'; allowed: --suite, --keep, --user" >&2; exit 2 ;;
    *) break ;;
  esac
done
[ $# -gt 0 ] || set -- './gdr prove' './test'
[ "$(id -u)" -eq 0 ] || { echo "clean_chroot: needs root, for chroot and mount" >&2; exit 2; }
command -v debootstrap >/dev/null ||
  { echo "clean_chroot: debootstrap is missing: apt-get install debootstrap" >&2; exit 2; }

repository=$(git -C "$(dirname "$(readlink -f "$0")")" rev-parse --show-toplevel)
work=$(mktemp -d)
base=${keep:-$work/base}

unmount_all() {
  # Deepest first; a lazy unmount would leave files of a process that still runs.
  findmnt -rno TARGET | { grep "^$work/" || true; } | sort -r |
    while read -r target; do umount "$target"; done
}
trap 'unmount_all; rm -rf --one-file-system "$work"' EXIT

mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | sed -n 1p)
if [ ! -e "$base/.complete" ]; then
  echo "clean_chroot: debootstrap $suite" >&2
  debootstrap --variant=minbase "$suite" "$base" "$mirror" >"$work/debootstrap.log" ||
    { tail -n 20 "$work/debootstrap.log" >&2; exit 1; }
  echo "deb $mirror $suite main" >"$base/etc/apt/sources.list"
  # How this machine reaches its mirror; what it pins or installs is none of the clean system's.
  for part in apt.conf.d auth.conf.d; do
    for file in /etc/apt/$part/*; do
      [ ! -f "$file" ] || grep -Eiq 'proxy|machine|Acquire::' "$file" &&
        cp "$file" "$base/etc/apt/$part/" 2>/dev/null || true
    done
  done
  touch "$base/.complete"
fi

run_in_clean_system() {
  local root=$work/system status=0
  mkdir "$root"
  cp -a "$base/." "$root"
  cp /etc/resolv.conf "$root/etc/resolv.conf"
  git clone -q --no-hardlinks "$repository" "$root/gdrkit"
  # Its root becomes that of a mount namespace: inside a mere chroot the kernel permits no user
  # namespace and no change of how mounts spread.
  mount --bind "$root" "$root"
  mkdir "$root/old"
  local enter="cd '$root' && pivot_root . old && umount -l /old && rmdir /old && exec \"\$@\""
  mount -t proc proc "$root/proc"
  mount -t sysfs -o ro sysfs "$root/sys"
  mount -t tmpfs -o mode=755 tmpfs "$root/dev"
  mkdir "$root/dev/shm" "$root/dev/pts"
  mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
  mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
  ln -s pts/ptmx "$root/dev/ptmx"
  for device in null zero full random urandom tty; do
    touch "$root/dev/$device"
    mount --bind "/dev/$device" "$root/dev/$device"
  done
  ln -s /proc/self/fd "$root/dev/fd"

  echo "clean_chroot: ${user:+as an ordinary user: }$1" >&2
  if [ -n "$user" ]; then
    chroot "$root" useradd -m newcomer
    chroot "$root" chown -R newcomer /gdrkit
    unshare --mount sh -c "$enter" sh setpriv --reuid newcomer --regid newcomer --clear-groups \
      env -i HOME=/home/newcomer PATH=/usr/bin:/bin sh -c "cd /gdrkit && $1" || status=$?
  else
    unshare --mount sh -c "$enter" sh env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin \
      sh -c "cd /gdrkit && $1" || status=$?
  fi
  echo "clean_chroot: exit status $status: $1" >&2
  unmount_all
  rm -rf --one-file-system "$root"
  return "$status"
}

failed=0
for command in "$@"; do
  run_in_clean_system "$command" || failed=1
done
exit $failed
