#!/bin/sh
# rxe_pair.sh up|down: the devices rxa and rxb on the pair that veth_pair.sh has made. "down" takes
# the module away, too: as long as it is there it holds UDP port 4791 of every address.
set -e
if [ "$1" = down ]; then
  rdma link delete rxa
  rdma link delete rxb
  modprobe -r rdma_rxe
  exit
fi
modprobe -a crc32_generic ib_uverbs rdma_ucm rdma_rxe
rdma link add rxa type rxe netdev w0
rdma link add rxb type rxe netdev w1
for device in rxa rxb; do
  waited=0
  until grep -q '0a08' /sys/class/infiniband/$device/ports/1/gids/* 2>/dev/null; do
    waited=$((waited + 1))
    [ "$waited" -lt 50 ] || { echo "$device has no GID for its address"; exit 1; }
    sleep 0.1
  done
done
rdma link
