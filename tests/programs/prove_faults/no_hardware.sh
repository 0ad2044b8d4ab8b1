#!/bin/sh
# no_hardware.sh GDR: --require-hardware on a machine with neither part shows the inventory, names both
# parts, their causes and a command that looks for them. On a machine with either there is nothing to
# see here.
set -u
for device in /sys/class/infiniband/* /dev/nvidia0; do
  [ ! -e "$device" ] || { echo "skipped: this machine has $device"; exit 77; }
done
output=$("$1" prove --require-hardware 2>&1)
status=$?
printf '%s\n' "$output"
[ "$status" -eq 1 ] || { echo "exit status $status instead of 1"; exit 1; }
for phrase in "^  GPU  *none found" "^  NIC  *none found" "^FAILED" \
  "^  seen  *a real GPU is required" "^  seen  *a real RDMA NIC is required" \
  "[1-9][.] GPU: the NVIDIA kernel module" "[1-9][.] NIC: /dev/infiniband is missing or empty" \
  "^  next  .*ls -l /dev/infiniband"; do
  printf '%s\n' "$output" | grep -q -- "$phrase" || { echo "does not say: $phrase"; exit 1; }
done
