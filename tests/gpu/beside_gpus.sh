#!/bin/sh
# beside_gpus.sh COMMAND...: COMMAND with software NICs that have places in the PCI tree, one beside each
# of the first two GPUs. NVSHMEM takes no NIC that has none.
set -eu
places=
for gpu in $(nvidia-smi --query-gpu=pci.bus_id --format=csv,noheader 2>/dev/null | head -n 2); do
  bus=$(printf '%s' "${gpu#????}" | tr 'A-F' 'a-f' | cut -d: -f1,2) # of 00000000:1A:00.0
  for number in 1f 1e 1d 1c 1b 1a 19; do
    place=$bus:$number.0
    [ ! -e "/sys/bus/pci/devices/$place" ] || continue
    case " $places " in *" $place "*) continue ;; esac
    places="$places $place"
    break
  done
done
number=0
devices=
for place in $places; do
  devices="$devices${devices:+,}soft$number/pci=$place"
  number=$((number + 1))
done
[ -z "$devices" ] || export GDR_SOFT_DEVICES="$devices"
echo "GDR_SOFT_DEVICES=${GDR_SOFT_DEVICES:-}"
exec "$@"
