#!/bin/sh
# Two rxe devices, rxa and rxb (rxe_pair.sh), on the two ends of a veth pair, such that packets from one to the
# other really cross it. rxe has its socket in the first network namespace only, so both ends are in
# it, and there the kernel would keep packets between two addresses of its own inside the host. Rules
# that look up the local table only for what came in by the pair send them out instead.
set -e
modprobe veth
ip link add w0 type veth peer name w1
echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter
for device in w0 w1; do
  conf=/proc/sys/net/ipv4/conf/$device
  echo 1 >$conf/accept_local
  echo 0 >$conf/rp_filter
  echo 1 >$conf/arp_ignore
  echo 0 >"/proc/sys/net/ipv6/conf/$device/accept_dad"
  ip link set $device up mtu 4200
done

# pair FAMILY ADDRESS-OF-W0 ADDRESS-OF-W1 PREFIX-LENGTH
pair() {
  ip "$1" address add "$2/$4" dev w0
  ip "$1" address add "$3/$4" dev w1
  ip "$1" rule add pref 10 iif w0 lookup local
  ip "$1" rule add pref 11 iif w1 lookup local
  ip "$1" route add "$3" dev w0 src "$2" table 100
  ip "$1" route add "$2" dev w1 src "$3" table 101
  ip "$1" rule add pref 20 from "$2" to "$3" lookup 100
  ip "$1" rule add pref 21 from "$3" to "$2" lookup 101
  ip "$1" rule add pref 1000 lookup local
  ip "$1" rule del pref 0
}
pair -4 10.8.0.1 10.8.0.2 24
pair -6 fd00:8::1 fd00:8::2 64

exec /lab/rxe_pair.sh up
