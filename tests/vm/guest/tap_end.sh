#!/bin/sh
# tap_end.sh ADDRESS: the network interface towards the host, with an rxe device on it.
set -e
modprobe -a crc32_generic ib_uverbs rdma_ucm rdma_rxe
ip link set eth0 up mtu 4200
ip address add "$1/24" dev eth0
rdma link add rxe0 type rxe netdev eth0
waited=0
until grep -q ':0a63:' /sys/class/infiniband/rxe0/ports/1/gids/* 2>/dev/null; do
  waited=$((waited + 1))
  [ "$waited" -lt 50 ] || { echo "rxe0 has no GID for $1"; exit 1; }
  sleep 0.1
done
