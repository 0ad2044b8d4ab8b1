#!/bin/sh
# on_a_real_gpu.sh GDR PROGRAM ARGS...: PROGRAM on the software NIC beside a real GPU.
set -eu
gdr=$1
shift
[ -n "$(ls /proc/driver/nvidia/gpus 2>/dev/null)" ] ||
  { echo "skipped: no NVIDIA GPU on this machine (/proc/driver/nvidia/gpus)"; exit 77; }
exec "$gdr" run --soft-nic --no-soft-gpu -- "$@"
