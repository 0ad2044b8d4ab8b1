#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# symvers.sh gpu|rdma|both [KERNEL]: what the GPU driver, the RDMA stack, or each of them exports to a
# peer-memory module, as lines of a Module.symvers file. They are read from the modules' own files, since those are what
# will be loaded. Where there is nothing, it says why in one line and ends with 1.
#
# It looks where "gdr peermem" looks (docs/peermem.md): on this host, and in the roots of driver
# containers. DRIVER_ROOT=DIR: the driver is there and nowhere else. ROOT=DIR: another host's root.
set -euf
# Paths are separated by ends of lines: other roots have any names.
IFS='
'
part=${1:-}
kernel=${2:-$(uname -r)}
root=${ROOT:-}

fail() { echo "symvers.sh: $*" >&2; exit 1; }

# sbin is not on everybody's path.
PATH=$PATH:/usr/sbin:/sbin
modprobe --help 2>/dev/null | grep -q show-exports ||
  fail "modprobe --show-exports is missing; install kmod 29 or newer, or give make NVIDIA_SYMVERS=FILE"

# exports FILE PATTERN MODULE
exports() {
  modprobe --show-exports "$1" 2>/dev/null |
    awk -v wanted="$2" -v module="$3" \
      '$2 ~ wanted { printf "%s\t%s\t%s\tEXPORT_SYMBOL\t\n", $1, $2, module }'
}

# tree FOLDER NAME...: modules of these names (patterns of find) for the kernel below that root.
tree() {
  folder=$1/lib/modules/$kernel
  shift
  [ -d "$folder" ] || return 0
  for name in "$@"; do
    find -L "$folder" -maxdepth 8 \( -name build -o -name source \) -prune -o \
      -type f -name "$name.ko*" -print 2>/dev/null
  done
}

# is_loaded FILE MODULE: srcversion is a hash over the sources that a module was built from.
is_loaded() {
  loaded=$(cat "$root/sys/module/$2/srcversion" 2>/dev/null) || return 1
  [ "$(modinfo -F srcversion "$1" 2>/dev/null)" = "$loaded" ]
}

# The driver's file has another name in some distributions: nvidia-current.ko, nvidia-open.ko.
gpu() {
  best=
  if [ -n "${DRIVER_ROOT:-}" ]; then set -- "$DRIVER_ROOT"; else set -- "$root" "$root/run/nvidia/driver"; fi
  for place in "$@"; do
    for file in $(tree "$place" "nvidia" "nvidia[-_]*"); do
      [ -n "$(exports "$file" '^nvidia_p2p_get_pages$' nvidia)" ] || continue
      [ -n "$best" ] || best=$file
      ! is_loaded "$file" nvidia || { best=$file; break 2; }
    done
  done
  [ -n "$best" ] || fail "no GPU driver (nvidia.ko) for kernel $kernel is here; install it, or name its root: DRIVER_ROOT=DIR"
  exports "$best" '^nvidia_p2p_' nvidia
}

# The file that is there first is what modprobe takes; a symvers file is what somebody has built.
rdma() {
  seen=
  for place in "$root" "$root/run/mellanox/drivers"; do
    for file in $(tree "$place" ib_core ib_uverbs); do
      seen=$file
      found=$(exports "$file" '^ib_(un)?register_peer_memory_client$' ib_core)
      [ -z "$found" ] || { echo "$found"; return; }
    done
  done
  for place in "$root" "$root/run/mellanox/drivers"; do
    for folder in x86_64/$kernel aarch64/$kernel "$kernel" default .; do
      file=$place/usr/src/ofa_kernel/$folder/Module.symvers
      [ -z "$seen" ] && grep -s register_peer_memory_client "$file" && return
    done
  done
  for folder in "$root/lib/modules/$kernel/build" "$root/usr/src/linux-headers-$kernel" \
    "$root/usr/src/kernels/$kernel"; do
    grep -s register_peer_memory_client "$folder/Module.symvers" && return
  done
  fail "the RDMA stack of kernel $kernel has no ib_register_peer_memory_client, so no peer-memory module can help; use dma-buf"
}

# Nothing of either where one is missing.
both() {
  of_rdma=$(rdma)
  of_gpu=$(gpu)
  printf '%s\n' "$of_rdma" "$of_gpu"
}

case $part in
  gpu | rdma | both) "$part" ;;
  *) echo "usage: symvers.sh gpu|rdma|both [KERNEL]" >&2; exit 2 ;;
esac
