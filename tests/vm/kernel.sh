#!/bin/sh
# kernel.sh FOLDER [PACKAGE]: puts Debian's own kernel into FOLDER, once: vmlinuz, and modules.cpio with
# the modules that the lab needs. PACKAGE names it; the release's own is linux-image-amd64. The package
# is unpacked, never installed, and nothing of this machine's kernel is touched. Exit status 77, with
# the reason, where it cannot be had.
set -eu
folder=$1
wanted=${2:-linux-image-amd64}
skip() { echo "skipped: $*"; exit 77; }

modules="virtio_pci virtio_console virtio_net virtio_rng veth sch_netem
  sch_ingress ifb act_mirred cls_matchall
  crc32_generic crc32-pclmul ib_uverbs rdma_ucm rdma_rxe"

mkdir -p "$folder"
[ "$(cat "$folder/modules-wanted" 2>/dev/null)" != "$modules" ] || exit 0
[ "$(uname -m)" = x86_64 ] || skip "the lab's kernel is one for x86-64, and this is $(uname -m)"
for program in apt-get apt-cache dpkg-deb busybox; do
  command -v "$program" >/dev/null || skip "$program is not installed (Debian: busybox-static)"
done

work=$(mktemp -d "$folder/unpack.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

# download OPTIONS...: the package that the wanted one stands for today.
download() {
  package=$(apt-cache "$@" depends "$wanted" 2>/dev/null |
    sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
  [ -n "$package" ] || return 1
  (cd "$work" && timeout 150 apt-get "$@" -q -o APT::Sandbox::User=root download "$package")
}

# The machine's package lists may be missing or old; then lists of the lab's own, for which nobody
# needs to be root.
if ! download >"$work/log" 2>&1; then
  mkdir -p "$work/lists/partial" "$work/cache"
  if ! { timeout 60 apt-get -q -o Dir::State::Lists="$work/lists" -o Dir::Cache="$work/cache" \
    -o APT::Sandbox::User=root -o Debug::NoLocking=true update &&
    download -o Dir::State::Lists="$work/lists" -o Dir::Cache="$work/cache"; } >>"$work/log" 2>&1
  then
    skip "Debian's kernel package $wanted cannot be fetched: $(tail -n 1 "$work/log")"
  fi
fi

mkdir "$work/kernel" "$work/modules"
dpkg-deb --fsys-tarfile "$work"/linux-image-*.deb |
  tar -x -C "$work/kernel" --wildcards './boot/vmlinuz-*' './lib/modules/*'
version=$(basename "$work"/kernel/lib/modules/*)
from=$work/kernel/lib/modules/$version
to=$work/modules/lib/modules/$version

# Every module with what it depends on, decompressed. One that a kernel has built in is not there.
busybox depmod -b "$work/kernel" "$version"
for module in $modules; do
  name=$(echo "$module" | sed 's/[_-]/[_-]/g')
  grep -E "/$name\.ko[.a-z]*:" "$from/modules.dep" || echo "no module $module" >&2
done | tr -d : | tr ' ' '\n' | sort -u | while read -r file; do
  mkdir -p "$to/$(dirname "$file")"
  case $file in
    *.xz) busybox xzcat "$from/$file" >"$to/${file%.xz}" ;;
    *) cp "$from/$file" "$to/$file" ;;
  esac
done
cp "$from"/modules.order "$from"/modules.builtin* "$to"
busybox depmod -b "$work/modules" "$version"
(cd "$work/modules" && find . | busybox cpio -o -H newc 2>/dev/null) >"$folder/modules.cpio"
cp "$work"/kernel/boot/vmlinuz-* "$folder/vmlinuz"
echo "$modules" >"$folder/modules-wanted"
echo "kernel $version"
