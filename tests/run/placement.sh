#!/bin/sh
# gdr run shows software NICs in the PCI tree where GDR_SOFT_DEVICES wants them, each way it has, and
# unmodified programs see them there.
set -eu
gdr=$1
work=$(mktemp -d)
chmod 755 "$work"
trap 'rm -rf "$work"' EXIT
unset GDR_SOFT_DEVICES GDR_PRESENCE LD_PRELOAD LD_LIBRARY_PATH
functions=/sys/bus/pci/devices
if [ -e /sys/class/infiniband ]; then
  echo "skipped: this machine has RDMA devices of its own"
  exit 77
fi
fail() { echo "FAILED: $*"; exit 1; }
has() { command -v "$1" >/dev/null; }
before=$(ls /sys/class /sys/devices $functions 2>/dev/null || true)

# An address that is taken is refused, and the answer names a free one on its bus.
neighbour=$(ls $functions 2>/dev/null | tail -n 1)
near=
if [ -n "$neighbour" ]; then
  for way in auto preload none; do
    status=0
    GDR_SOFT_DEVICES=soft0/pci=$neighbour "$gdr" run --soft-nic --presence "$way" -- true \
      2>"$work/err" || status=$?
    [ "$way" = none ] && [ "$status" = 0 ] && continue  # it is shown nowhere
    [ "$status" = 2 ] || fail "$neighbour, $way: exit status $status: $(cat "$work/err")"
    [ "$(wc -l <"$work/err")" = 1 ] || fail "$neighbour, $way: not one line: $(cat "$work/err")"
    near=$(sed -n "s/.*device 'soft0': pci=$neighbour is a device of this host; \(.*\) is free on its bus/\1/p" \
      "$work/err")
    [ -n "$near" ] || fail "$neighbour, $way: $(cat "$work/err")"
  done
fi
# A domain that no machine has.
far=fffe:17:00.0

# What a program sees that reads files; the same whichever way it is shown.
cat >"$work/look" <<'END'
set -eu
class=/sys/class/infiniband
place() { # NAME ADDRESS FOLDER
  [ "$(readlink -f $class/$1/device)" = "$3/$2" ]
  [ "$(readlink -f /sys/bus/pci/devices/$2)" = "$3/$2" ]
  [ "$(readlink -f /sys/class/infiniband_verbs/$(ls $class/$1/device/infiniband_verbs)/device)" = "$3/$2" ]
  # As NCCL finds a function.
  [ "$(readlink -f /sys/class/pci_bus/${2%:*}/../../$2)" = "$3/$2" ]
  [ "$(basename "$(readlink $class/$1/device)")" = $2 ]
  [ "$(cat $3/$2/vendor) $(cat $class/$1/device/class)" = "0x0000 0x020000" ]
  [ "$(cat $class/$1/device/label)" = "gdrkit software NIC" ]
  [ "$(ls $3/$2/infiniband)" = $1 ]
  [ "$(cat $class/$1/device/max_link_speed)" = "8.0 GT/s PCIe" ]
  [ "$(cat $class/$1/ports/1/state)" = "4: ACTIVE" ]
  ls /sys/bus/pci/devices | grep -qx $2
}
place soft0 $far /sys/devices/pci${far%:*}
[ "$(cat $class/soft0/device/numa_node)" = -1 ]
[ ! -e $class/soft2/device ] && [ -e $class/soft2/node_guid ]
if [ -n "$near" ]; then
  parent=$(dirname "$(readlink -f /sys/bus/pci/devices/$neighbour)")
  place soft1 $near "$parent"
  for file in numa_node local_cpus local_cpulist; do
    [ "$(cat $class/soft1/device/$file)" = "$(cat /sys/bus/pci/devices/$neighbour/$file)" ]
  done
  # Up from there, and aside, is the machine.
  [ "$(cat $class/soft1/device/../$neighbour/class)" = "$(cat $parent/$neighbour/class)" ]
  [ "$(ls $parent/$neighbour)" = "$(ls $class/soft1/device/../$neighbour/)" ]
  [ "$(readlink -f $class/soft1/device/../$neighbour)" = "$parent/$neighbour" ]
  ls /sys/bus/pci/devices | grep -qx $neighbour
fi
echo seen
END
export far near neighbour
devices="soft0/pci=$far,soft1${near:+/pci=$near},soft2"
run() { # WAY COMMAND...
  way=$1
  shift
  GDR_SOFT_DEVICES=$devices "$gdr" run --soft-nic --no-soft-gpu --presence "$way" -- "$@"
}
shown() { # WAY PREFIX...
  way=$1
  shift
  GDR_SOFT_DEVICES=$devices "$@" "$gdr" run --soft-nic --presence "$way" -- sh -x "$work/look" \
    >"$work/out" 2>"$work/err" || fail "$way: $(tail -n 5 "$work/err")"
  [ "$(cat "$work/out")" = seen ] || fail "$way: $(cat "$work/err")"
}

ways=preload
if unshare -m true 2>/dev/null; then ways="preload namespace"; fi
for way in $ways; do
  shown "$way" env
  # One line each: who else sees it there.
  if has lstopo-no-graphics; then
    run "$way" lstopo-no-graphics --no-caches --of console >"$work/out" 2>/dev/null
    grep -A 1 "PCI.*17:00.0 (Ethernet)" "$work/out" | grep -q 'OpenFabrics "soft0"' ||
      fail "lstopo, $way: $(cat "$work/out")"
  fi
  if has lspci; then
    run "$way" lspci -Dvs $far 2>/dev/null | grep -q "DeviceName: gdrkit software NIC" || fail "lspci, $way"
  fi
  if has ibstat; then
    run "$way" ibstat soft0 2>/dev/null | grep -q "CA type: gdrkit software NIC" || fail "ibstat, $way"
  fi
  if has ucx_info; then
    run "$way" ucx_info -d 2>/dev/null | grep -q "System device: soft0" || fail "ucx_info, $way"
    UCX_LOG_LEVEL=debug run "$way" ucx_info -d 2>/dev/null |
      grep -q "soft0: PF sysfs path is '/sys/devices/pci${far%:*}/$far'" || fail "ucx_info's path, $way"
  fi
  if has python3; then
    run "$way" python3 -c '
import os, sys
names = [entry.name for entry in os.scandir("/sys/bus/pci/devices")]
assert sys.argv[1] in names, names
folder = os.open("/sys/class/infiniband/soft0/device", os.O_RDONLY)
assert os.read(os.open("vendor", os.O_RDONLY, dir_fd=folder), 9) == b"0x0000\n"' "$far" 2>"$work/err" ||
      fail "python3, $way: $(cat "$work/err")"
  fi
  # The interface that has the device's address, as ibdev2netdev looks for it.
  interface=$(ip -4 -brief address 2>/dev/null | awk '$1 != "lo" && $3 ~ /\// { print $1, $3; exit }')
  if [ -n "$interface" ]; then
    address=${interface#* }
    GDR_SOFT_DEVICES="soft0/pci=$far/ip=${address%/*}" "$gdr" run --soft-nic --presence "$way" -- sh -c '
      for device in /sys/class/infiniband/*; do ls $device/device/net; done
      cat /sys/class/infiniband/soft0/device/net/*/operstate' >"$work/out" 2>"$work/err" ||
      fail "device/net, $way: $(cat "$work/err")"
    [ "$(head -n 1 "$work/out")" = "${interface% *}" ] || fail "device/net, $way: $(cat "$work/out")"
  fi
done

# Within another gdr run, whichever way that one shows its own.
for outer in $ways; do
  for inner in $ways; do
    GDR_SOFT_DEVICES=$devices "$gdr" run --soft-nic --presence "$outer" -- \
      env GDR_SOFT_DEVICES="inner0/pci=$far/speed=400,inner1${near:+/pci=$near}" \
      "$gdr" run --soft-nic --presence "$inner" -- sh -eu -c '
        class=/sys/class/infiniband
        [ "$(echo $class/*)" = "$class/inner0 $class/inner1" ]
        [ "$(readlink -f $class/inner0/device)" = /sys/devices/pci${far%:*}/$far ]
        [ "$(cat /sys/bus/pci/devices/$far/max_link_speed)" = "32.0 GT/s PCIe" ]
        [ "$(ls $class/inner0/device/infiniband)" = inner0 ]
        [ -z "$near" ] || [ "$(ls /sys/bus/pci/devices/$near/infiniband)" = inner1 ]
        echo seen' >"$work/out" 2>"$work/err" || fail "$inner within $outer: $(cat "$work/err")"
    [ "$(cat "$work/out")" = seen ] || fail "$inner within $outer: $(cat "$work/err")"
  done
done

# NCCL is told of a place only where there is none to see.
placed=$(GDR_SOFT_DEVICES="soft0/pci=$far" "$gdr" run --soft-nic -- true 2>&1)
partly=$(run auto true 2>&1)
! echo "$placed" | grep -q NCCL_NET_GDR_LEVEL || fail "placed: $placed"
echo "$partly" | grep -q NCCL_NET_GDR_LEVEL=SYS || fail "one without a place: $partly"

# An ordinary user.
if [ "$(id -u)" = 0 ]; then
  ordinary="setpriv --reuid=54441 --regid=54441 --clear-groups env -u XDG_RUNTIME_DIR HOME=$work"
  chmod 644 "$work/look"
  # shellcheck disable=SC2086  # words
  shown auto $ordinary
  # shellcheck disable=SC2086
  if $ordinary unshare -U true 2>/dev/null; then shown namespace $ordinary; fi
  rm -rf /tmp/gdrkit-54441
fi

[ "$before" = "$(ls /sys/class /sys/devices $functions 2>/dev/null || true)" ] ||
  fail "the machine is not as it was before"
echo "in their places: $ways"
