#!/bin/sh
# disturb.sh INTERFACE SPECIFICATION...: what goes out and what comes in is treated as tc-netem's
# SPECIFICATION says; without one, as usual again, and prints how many packets were dropped. What
# comes in takes the way over an ifb device, since netem works on what goes out alone.
set -e
interface=$1
shift
modprobe -a ifb act_mirred cls_matchall sch_ingress sch_netem
if [ $# -eq 0 ]; then
  tc -s qdisc show | sed -n 's/.*(dropped \([0-9]*\),.*/\1/p' | {
    sum=0
    while read -r dropped; do sum=$((sum + dropped)); done
    echo "$sum"
  }
  tc qdisc del dev "$interface" root
  tc qdisc del dev "$interface" ingress
  ip link set ifb0 down
  tc qdisc del dev ifb0 root
  exit
fi
ip link set ifb0 up
tc qdisc add dev ifb0 root netem "$@"
tc qdisc add dev "$interface" ingress
tc filter add dev "$interface" ingress matchall action mirred egress redirect dev ifb0
tc qdisc add dev "$interface" root netem "$@"
