#!/bin/sh
# devinfo.sh GDR: ibv_devinfo and ibv_devices see the devices that GDR_SOFT_DEVICES names.
set -eu
gdr=$1
command -v ibv_devinfo >/dev/null ||
  { echo "skipped: ibv_devinfo is not installed (Debian: ibverbs-utils)"; exit 77; }
unset GDR_SOFT_DEVICES
run() { timeout -k 2 300 "$gdr" run --soft-nic --no-soft-gpu -- "$@" 2>&1; }
fail() { echo "FAILED: $*"; exit 1; }

printed=$(run ibv_devinfo -v) || fail "ibv_devinfo -v: $printed"
for part in 'hca_id:.soft0' 'hca_id:.soft1' 'PORT_ACTIVE' 'link_layer:.*Ethernet' \
  'GID\[ *0\]:.*fe80:.*RoCE v1' 'GID\[ *3\]:.*::ffff:.*RoCE v2' 'ATOMIC_HCA' 'active_speed:.*25.0 Gbps'; do
  echo "$printed" | grep -q "$part" || fail "no '$part' in: $printed"
done
[ "$(echo "$printed" | grep -c 'GID\[')" -eq 8 ] || fail "not four GIDs for each device: $printed"

printed=$(run ibv_devices) || fail "ibv_devices: $printed"
echo "$printed" | grep -q 'soft1' || fail "no soft1 in: $printed"

# Names that a program has written into it are enough to run it.
GDR_SOFT_DEVICES=mlx5_0,mlx5_3
export GDR_SOFT_DEVICES
printed=$(run ibv_devinfo -d mlx5_3) || fail "ibv_devinfo -d mlx5_3: $printed"
echo "$printed" | grep -q 'hca_id:.mlx5_3' || fail "no mlx5_3 in: $printed"
