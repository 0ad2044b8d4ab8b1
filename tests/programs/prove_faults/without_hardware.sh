#!/bin/sh
# without_hardware.sh GDR: on a machine with neither GPU nor NIC the bare command is a simulation, says so
# first, and ends with 0; --help shows in its first screen what a fleet uses instead.
set -u
for device in /sys/class/infiniband/* /dev/nvidia0; do
  [ ! -e "$device" ] || { echo "skipped: this machine has $device"; exit 77; }
done
for number in $(sed -n 's/^0x10de$/&/p;s/^0x15b3$/&/p' /sys/bus/pci/devices/*/vendor 2>/dev/null); do
  echo "skipped: this machine has a PCI device of NVIDIA's ($number)"
  exit 77
done
output=$("$1" prove --no-measure --sizes 1,4097 --modes raw,write 2>&1)
status=$?
printf '%s\n' "$output"
[ "$status" -eq 0 ] || { echo "exit status $status instead of 0"; exit 1; }
printf '%s\n' "$output" | grep -q "^SIMULATION PASSED: no real GPU or NIC was tested" || exit 1
"$1" prove --help | head -n 24 | grep -q "1 FAILED; 2 wrong use; 3 proved in part" ||
  { echo "gdr prove --help: no exit statuses in its first 24 lines"; exit 1; }
