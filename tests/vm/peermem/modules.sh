#!/bin/sh
# modules.sh FOLDER: builds, for the kernel that kernel.sh has put into FOLDER, our peer-memory module
# and the stand-ins that it meets in the guest, into FOLDER/ko. Needs that kernel's headers and, for
# the driver rxe, its sources: Debian's packages, which are fetched and unpacked once, never installed.
# What is built already is not built again. Exit status 77, with the reason, where something cannot
# be had.
set -eu
folder=$(readlink -f "$1")
here=$(dirname "$(readlink -f "$0")")
checkout=$(readlink -f "$here/../../..")
skip() { echo "skipped: $*"; exit 77; }

for program in make nm strip busybox dpkg-deb apt-get; do
  command -v "$program" >/dev/null || skip "$program is not installed"
done
kernel=$(busybox cpio -t <"$folder/modules.cpio" 2>/dev/null |
  sed -n 's,^lib/modules/\([^/]*\)$,\1,p' | head -n 1)
release=$(echo "$kernel" | cut -d . -f 1,2)

built_from=$(cd "$checkout" && echo "$kernel" &&
  find kernel tests/vm/peermem \( -name check -o -name packaging \) -prune -o -type f ! -name "*.md" -exec sha256sum {} + | sort -k 2)
[ "$(cat "$folder/ko/built-from" 2>/dev/null)" != "$built_from" ] || exit 0
mkdir -p "$folder/ko" "$folder/build"
rm -f "$folder"/ko/*

work=$(mktemp -d "$folder/fetched.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

# fetch PACKAGE...: into a folder of its own. The machine's package lists may be missing or old; then
# lists of the lab's own.
fetch() {
  rm -rf "$work/packages"
  mkdir -p "$work/packages" "$folder/lists/partial" "$folder/cache"
  (
    cd "$work/packages"
    timeout 400 apt-get -q -o APT::Sandbox::User=root download "$@" && exit 0
    export APT_CONFIG="$work/apt.conf"
    cat >"$APT_CONFIG" <<CONFIG
Dir::State::Lists "$folder/lists";
Dir::Cache "$folder/cache";
APT::Sandbox::User "root";
Debug::NoLocking "true";
CONFIG
    timeout 60 apt-get -q update && timeout 400 apt-get -q download "$@"
  ) >"$work/log" 2>&1
}

headers=$folder/headers/usr/src/linux-headers-$kernel
if [ ! -e "$headers/ready" ]; then
  version=${kernel%-*}
  tools=$version
  [ "${version#6.1.}" = "$version" ] || tools=6.1
  fetch "linux-headers-$kernel" "linux-headers-$version-common" "linux-kbuild-$tools" ||
    skip "the headers of $kernel cannot be fetched; removing $folder brings a newer kernel: $(tail -n 1 "$work/log")"
  for package in "$work"/packages/*.deb; do dpkg-deb -x "$package" "$folder/headers"; done
  # They are meant for the root of a system.
  sed -i "s,^include /usr/src,include $folder/headers/usr/src," "$headers/Makefile"
  touch "$headers/ready"
fi

rxe=drivers/infiniband/sw/rxe
if [ ! -e "$folder/source/ready" ]; then
  fetch "linux-source-$release" ||
    skip "the sources linux-source-$release cannot be fetched: $(tail -n 1 "$work/log")"
  mkdir -p "$folder/source"
  dpkg-deb --fsys-tarfile "$work"/packages/*.deb | tar -xO "./usr/src/linux-source-$release.tar.xz" |
    tar -xJ -C "$folder/source" --strip-components=1 --wildcards "*/$rxe" "*/scripts/checkpatch.pl" \
      "*/scripts/spelling.txt" "*/scripts/const_structs.checkpatch"
  touch "$folder/source/ready"
fi

compiler=$(sed -n 's/^CC = .* \$(CROSS_COMPILE)\(gcc[-0-9]*\)$/\1/p' "$headers/.kernelvariables")
command -v "${compiler:-gcc}" >/dev/null ||
  skip "${compiler:-gcc}, which this kernel was built with, is not installed"

# run_make PLACE ARGUMENTS... Types for BPF would need the whole kernel image.
run_make() {
  place=$1
  shift
  nice make -s CONFIG_DEBUG_INFO_BTF_MODULES= "$@" >"$place.log" 2>&1 ||
    { cat "$place.log"; echo "$place cannot be built"; exit 1; }
}

# copy PLACE FOLDER...: their files, those that have changed.
copy() {
  mkdir -p "$1"
  to=$1
  shift
  find "$@" -maxdepth 1 -type f ! -name '.*' | while read -r file; do
    cmp -s "$file" "$to/$(basename "$file")" || cp "$file" "$to/"
  done
}

# module PLACE FOLDER... -- MAKE-VARIABLE...
module() {
  place=$folder/build/$1
  shift
  folders=
  while [ "$1" != -- ]; do
    folders="$folders $1"
    shift
  done
  shift
  # shellcheck disable=SC2086  # a list
  copy "$place" $folders
  run_make "$place" -C "$headers" M="$place" "$@" modules
}

# client NAME SYMVERS-OF-THE-DRIVER: our module.
client() {
  copy "$folder/build/client-$1" "$checkout/kernel"
  run_make "$folder/build/client-$1" -C "$folder/build/client-$1" KDIR="$headers" \
    NVIDIA_SYMVERS="$2" RDMA_SYMVERS="$folder/build/peer_core/Module.symvers"
  result "client-$1/nvidia-peermem.ko" "nvidia-peermem-$1.ko"
}

# result FILE NAME
result() { strip --strip-debug -o "$folder/ko/$2" "$folder/build/$1"; }

module peer_core "$here/peer_core" --
result peer_core/peer_core.ko peer_core.ko
module dma_buf_stub "$here/dma_buf_stub" --
result dma_buf_stub/dma_buf_stub.ko dma_buf_stub.ko

# Kinds of the GPU driver, and our module for each. The proprietary one has the open one's versions.
for kind in open: proprietary:-DSTUB_PROPRIETARY 580:-DSTUB_TABLE_2 515:-DSTUB_API=2 \
  "470:-DSTUB_API=1 -DSTUB_PROPRIETARY"; do
  name=${kind%%:*}
  module "driver-$name" "$here/nvidia_stub" -- STUB="${kind#*:}"
  result "driver-$name/nvidia.ko" "nvidia-$name.ko"
  [ "$name" = proprietary ] || client "$name" "$folder/build/driver-$name/Module.symvers"
done

# Symbol versions as the script of the old nv_peer_mem takes them: from nm, which on kernels from 5.19
# on shows where in the file they are.
nm "$folder/build/driver-open/nvidia.ko" | sed -n \
  's/^0*\([0-9a-f]\{8\}\) [a-zA-Z] __crc_\(nvidia_p2p_.*\)$/0x\1\t\2\tnvidia\tEXPORT_SYMBOL_GPL\t/p' \
  >"$folder/build/old-way.symvers"
[ ! -s "$folder/build/old-way.symvers" ] || client old-way "$folder/build/old-way.symvers"

module rxe "$folder/source/$rxe" "$here/rxe_with_peers" -- \
  KBUILD_EXTRA_SYMBOLS="$folder/build/peer_core/Module.symvers"
result rxe/rdma_rxe.ko rdma_rxe.ko
echo "$built_from" >"$folder/ko/built-from"
echo "modules for kernel $kernel built"
