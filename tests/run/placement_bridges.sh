#!/bin/sh
# Software NICs below the bridges of a machine that has them: a GPU and a free slot below one PCI
# switch, another free slot below another host bridge. The machine is a tree of this test's own in
# place of /sys, in a mount namespace. What others make of it: hwloc draws each NIC below its bridge,
# UCX takes two NICs below one switch to be near and those of different host bridges to be far.
set -eu
gdr=$1
if [ "${2:-}" != inside ]; then
  unset GDR_SOFT_DEVICES GDR_PRESENCE LD_PRELOAD LD_LIBRARY_PATH
  unshare -m true 2>/dev/null || { echo "skipped: no mount namespace"; exit 77; }
  exec unshare -m "$0" "$gdr" inside
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*"; exit 1; }

set_byte() { # FILE OFFSET VALUE
  # shellcheck disable=SC2059  # the octal number is the format
  printf "\\$(printf %03o "$3")" | dd of="$1" bs=1 seek=$(($2)) conv=notrunc status=none
}
function_at() { # PATH CLASS [FIRST_BUS LAST_BUS]
  folder=/sys/devices/$1
  mkdir -p "$folder"
  head -c 256 /dev/zero >"$folder/config"
  set_byte "$folder/config" 0x0a 0x"$(echo "$2" | cut -c 3-4)"
  set_byte "$folder/config" 0x0b 0x"$(echo "$2" | cut -c 1-2)"
  if [ $# = 4 ]; then
    set_byte "$folder/config" 0x0e 1
    set_byte "$folder/config" 0x19 0x"$3"
    set_byte "$folder/config" 0x1a 0x"$4"
  fi
  for line in class=0x"$2" vendor=0x10de device=0x2330 subsystem_vendor=0x0000 \
    subsystem_device=0x0000 numa_node=-1 uevent=; do
    echo "${line#*=}" >"$folder/${line%%=*}"
  done
  ln -s "../../../devices/$1" "/sys/bus/pci/devices/${1##*/}"
}

mount --bind /sys/devices/system "$(mkdir "$work/system" && echo "$work/system")"
mount -t tmpfs none /sys
mkdir -p /sys/devices/system /sys/bus/pci/devices /sys/class/pci_bus /sys/class/net
mount --move "$work/system" /sys/devices/system
for bus in 16 80; do
  mkdir -p /sys/devices/pci0000:$bus
  : >/sys/devices/pci0000:$bus/uevent
done
switch=pci0000:16/0000:16:01.0/0000:17:00.0
function_at pci0000:16/0000:16:01.0 060400 17 1a
function_at $switch 060400 18 1a
function_at $switch/0000:18:00.0 060400 19 19
function_at $switch/0000:18:01.0 060400 1a 1a
function_at $switch/0000:18:00.0/0000:19:00.0 030200
function_at pci0000:80/0000:80:01.0 060400 81 81

run() { # WAY DEVICES COMMAND...
  way=$1
  devices=$2
  shift 2
  GDR_SOFT_DEVICES=$devices "$gdr" run --soft-nic --no-soft-gpu --quiet --presence "$way" -- "$@"
}
# UCX's figure for the way between the two NICs; an infinite one is a large one here.
bandwidth() {
  run "$1" "$2" ucx_info -T 2>/dev/null |
    awk '$3 == "soft0" && $5 == "-" { print $7 == "inf" ? 1000000000 : int($7) }'
}

near=soft0/pci=1a:00.0,soft1/pci=1a:00.1
far=soft0/pci=1a:00.0,soft1/pci=81:00.0
for way in preload namespace; do
  run $way $far sh -c 'readlink -f /sys/class/infiniband/*/device' >"$work/out" 2>"$work/err" ||
    fail "$way: $(cat "$work/err")"
  printf '%s\n' /sys/devices/$switch/0000:18:01.0/0000:1a:00.0 \
    /sys/devices/pci0000:80/0000:80:01.0/0000:81:00.0 | cmp -s - "$work/out" ||
    fail "$way: $(cat "$work/out")"
  if command -v lstopo-no-graphics >/dev/null; then
    run $way $far lstopo-no-graphics --no-caches --of console 2>/dev/null |
      sed -n '/HostBridge/,$p' >"$work/out"
    cmp -s "$work/out" - <<'TREE' || fail "lstopo, $way: $(cat "$work/out")"
  HostBridge
    PCIBridge
      PCIBridge
        PCIBridge
          PCI 19:00.0 (3D)
        PCIBridge
          PCI 1a:00.0 (Ethernet)
            OpenFabrics "soft0"
  HostBridge
    PCIBridge
      PCI 81:00.0 (Ethernet)
        OpenFabrics "soft1"
TREE
  fi
  if command -v ucx_info >/dev/null; then
    [ "$(bandwidth $way $near)" -gt "$(bandwidth $way $far)" ] ||
      fail "UCX, $way: near $(bandwidth $way $near), far $(bandwidth $way $far)"
  fi
done
echo "below their bridges"
