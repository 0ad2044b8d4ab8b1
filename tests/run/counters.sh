#!/bin/sh
# The counters of the software NIC's ports: files that move while traffic runs, in each way that
# gdr run has to show them, and true.
set -eu
# In a network of its own: a port also counts packets that other tests of this host send to it.
if [ -z "${GDR_OWN_NETWORK-}" ] && unshare -n ip link set lo up 2>/dev/null; then
  GDR_OWN_NETWORK=1 exec unshare -n sh -c 'ip link set lo up && exec "$0" "$@"' "$0" "$@"
fi
gdr=$1
work=$(mktemp -d)
chmod 700 "$work"
trap 'rm -rf "$work"' EXIT
unset GDR_SOFT_DEVICES GDR_PRESENCE GDR_SOFT_PATH GDR_SOFT_COUNTERS LD_PRELOAD LD_LIBRARY_PATH
# Counts of its own.
export XDG_RUNTIME_DIR="$work"
if [ -e /sys/class/infiniband ]; then
  echo "skipped: this machine has RDMA devices of its own"
  exit 77
fi
command -v ib_write_bw >/dev/null || { echo "skipped: no ib_write_bw (package perftest)"; exit 77; }

fail() { echo "FAILED: $*"; exit 1; }

# total NAME: of port soft1, from outside of gdr run.
total() {
  "$gdr" counters --all 2>/dev/null | sed -n "/^software NIC soft1:/,/^$/s|^$1 *||p" | tr -d ' '
}
port=/sys/class/infiniband/soft1/ports/1

# traffic OPTIONS PROGRAM...: a server on soft0, a client on soft1, which may run more.
traffic() {
  options=$1
  shift
  # shellcheck disable=SC2086  # words
  "$gdr" run --quiet --soft-nic $options -- "$@" -d soft0 >"$work/server" 2>&1 &
  server=$!
  waited=0
  # shellcheck disable=SC2086
  until "$gdr" run --quiet --soft-nic $options -- "$@" -d soft1 localhost >"$work/client" 2>&1; do
    waited=$((waited + 1))
    [ "$waited" -lt 1000 ] || fail "$*: $(cat "$work/client" "$work/server")"
    sleep 0.1
  done
  wait "$server" || fail "$*: the server: $(cat "$work/server")"
}

# moved NAME COMMAND...: by how much the counter grew.
moved() {
  name=$1
  before=$(total "$name")
  shift
  "$@"
  echo $(($(total "$name") - ${before:-0}))
}

# What 1000 writes of 10000 bytes are at a path MTU of 1024: ten packets each, 42 bytes of frame, 12
# of BTH and 4 of ICRC around each, 16 more (RETH) in the first; 62 bytes for an acknowledge.
writes="ib_write_bw -n 1000 -s 10000 -m 1024 --report_gbits"
# shellcheck disable=SC2086
[ "$(moved counters/port_xmit_packets traffic "" $writes)" = 10000 ] || fail "packets of writes"
# shellcheck disable=SC2086
[ "$(moved counters/port_xmit_data traffic "" $writes)" = $((1000 * (10000 + 10 * 58 + 16) / 4)) ] ||
  fail "bytes of writes"
# shellcheck disable=SC2086
[ "$(moved counters/port_rcv_data traffic "" $writes)" = $((1000 * 62 / 4)) ] ||
  fail "bytes of acknowledges"
# The other side has taken them.
requests=$("$gdr" counters --all | sed -n '/^software NIC soft0:/,/^$/s|^hw_counters/rx_write_requests *||p')
[ "$requests" = 3000 ] || fail "rx_write_requests: $requests"

# reads, atomics, sends: what the client's port counts, and a counter of the server's.
of_server() { "$gdr" counters --all | sed -n "/^software NIC soft0:/,/^\$/s|^$1 *||p" | tr -d ' '; }
# counts PROGRAM OUT-PACKETS OUT-BYTES IN-PACKETS IN-BYTES SERVERS-COUNTER: for 1000 of them. A
# receiver that is not ready refuses a message, which comes once more: then it is another attempt's.
counts() {
  for attempt in 1 2 3 4 5; do
    # shellcheck disable=SC2046  # words
    set -- "$1" "$2" "$3" "$4" "$5" "$6" $(snapshot "$6")
    # shellcheck disable=SC2086
    traffic "" $1 -n 1000 -m 1024
    # shellcheck disable=SC2046
    set -- "$@" $(snapshot "$6")
    moved="$((${12} - $7)) $(((${13} - $8) * 4)) $((${14} - $9)) $(((${15} - ${10}) * 4)) $((${16} - ${11}))"
    [ "$moved" != "$2 $3 $4 $5 1000" ] || return 0
    echo "attempt $attempt: $1: $moved, not $2 $3 $4 $5 1000"
  done
  fail "$1"
}
snapshot() {
  for name in port_xmit_packets port_xmit_data port_rcv_packets port_rcv_data; do
    total "counters/$name"
  done
  of_server "$1"
}
counts "ib_read_bw -s 10000" 1000 $((1000 * (58 + 16))) 10000 $((1000 * (10000 + 10 * 58 + 8))) \
  hw_counters/rx_read_requests
counts "ib_atomic_bw -A FETCH_AND_ADD" 1000 $((1000 * (58 + 28))) 1000 $((1000 * (58 + 12))) \
  hw_counters/rx_atomic_requests
counts "ib_send_bw -s 1001 -r 1000" 1000 $((1000 * (1004 + 58))) 1000 $((1000 * 62)) hw_counters/rdma_recvs
counts "ib_send_bw -c UD -s 1001 -r 1000" 1000 $((1000 * (1004 + 66))) 0 0 hw_counters/rdma_recvs
# Lists of short ones, which one system call moves.
counts "ib_write_bw -l 20 -s 64" 1000 $((1000 * (64 + 58 + 16))) 1000 $((1000 * 62)) \
  hw_counters/rx_write_requests
counts "ib_read_bw -l 20 -s 64" 1000 $((1000 * (58 + 16))) 1000 $((1000 * (64 + 58 + 4))) \
  hw_counters/rx_read_requests

# By packets the same, but for acknowledges and what is sent twice.
# shellcheck disable=SC2086
packets=$(moved counters/port_xmit_packets traffic --packets $writes)
[ "$packets" -ge 10000 ] && [ "$packets" -lt 20000 ] || fail "packets by --packets: $packets"

# shown WAY: within gdr run, a counter's file moves while traffic runs, and is what the port counts.
shown() {
  "$gdr" run --soft-nic --presence "$1" -- sh -eu -c '
    count() { cat '$port'/counters/port_xmit_packets; }
    [ "$(cat '$port'/hw_counters/lifespan)" = 10 ]
    [ -z "$(cat '$port'/counters/* '$port'/hw_counters/* '$port'/cm_*/* | grep -v "^[0-9]*$")" ]
    ib_write_bw -d soft0 -D 4 >/dev/null 2>&1 & server=$!
    until grep -q ":4853 .* 0A " /proc/net/tcp /proc/net/tcp6; do sleep 0.1; done  # 18515, LISTEN
    ib_write_bw -d soft1 -D 4 localhost >/dev/null 2>&1 & client=$!
    moves=0
    last=$(count)
    while kill -0 $client 2>/dev/null; do
      sleep 0.1
      now=$(count)
      [ "$now" = "$last" ] || moves=$((moves + 1))
      [ "$now" -ge "$last" ] || { echo "from $last to $now"; exit 1; }
      last=$now
    done
    wait $client $server
    [ "$moves" -ge 2 ] || { echo "moved $moves times"; exit 1; }
    sleep 0.3; count' >"$work/out" 2>"$work/err" || fail "$1: $(cat "$work/out" "$work/err")"
  [ "$(tail -n 1 "$work/out")" = "$(total counters/port_xmit_packets)" ] ||
    fail "$1: $(cat "$work/out"), and the port has $(total counters/port_xmit_packets)"
}
shown preload
if unshare -m true 2>/dev/null; then
  shown namespace
  "$gdr" run --quiet --soft-nic --presence namespace -- sh -c "[ -e $port/state ] && [ ! -e $port/counters ]" ||
    fail "nobody keeps counters in a mount namespace with --quiet"
fi
# With --quiet the preloaded library keeps them.
[ "$("$gdr" run --quiet --soft-nic --presence preload -- cat $port/counters/port_xmit_packets)" = \
  "$(total counters/port_xmit_packets)" ] || fail "preload, --quiet"

# By netlink.
if command -v rdma >/dev/null; then
  "$gdr" run --quiet --soft-nic -- rdma statistic show link soft1/1 >"$work/out" 2>&1 || fail "rdma: $(cat "$work/out")"
  grep -q "sent_pkts $(total hw_counters/sent_pkts) " "$work/out" || fail "rdma: $(cat "$work/out")"
  "$gdr" run --quiet --soft-nic -- rdma statistic qp show >"$work/out" 2>&1 || fail "rdma qp: $(cat "$work/out")"
fi

# Monitors.
if command -v prometheus-node-exporter >/dev/null && unshare -m true 2>/dev/null &&
  command -v python3 >/dev/null; then
  GDR_SOFT_DEVICES=mlx5_0 "$gdr" run --soft-nic -- python3 -c '
import subprocess, sys, time, urllib.request
address = "127.0.0.1:19173"
exporter = subprocess.Popen(["prometheus-node-exporter", "--collector.disable-defaults",
                             "--collector.infiniband", "--web.listen-address=" + address],
                            stderr=subprocess.DEVNULL)
try:
    for attempt in range(1000):
        try:
            text = urllib.request.urlopen("http://" + address + "/metrics").read().decode()
            break
        except OSError:
            time.sleep(0.1)
    for wanted in ["node_infiniband_port_data_transmitted_bytes_total{device=\"mlx5_0\",port=\"1\"}",
                   "node_scrape_collector_success{collector=\"infiniband\"} 1",
                   "board_id=\"gdrkit software NIC\""]:
        assert wanted in text, wanted + " not in\n" + text
finally:
    exporter.terminate()
    exporter.wait()' >"$work/out" 2>&1 || fail "node_exporter: $(cat "$work/out")"
fi

# gdr watch has them as a port's.
"$gdr" watch --report "$work/watch.json" -- "$gdr" run --soft-nic -- sh -c '
  ib_write_bw -d soft1 -n 1000 -s 10000 -m 1024 >/dev/null &
  until grep -q ":4853 .* 0A " /proc/net/tcp /proc/net/tcp6; do sleep 0.1; done
  ib_write_bw -d soft1 -n 1000 -s 10000 -m 1024 localhost >/dev/null; wait' 2>"$work/err" ||
  fail "gdr watch: $(cat "$work/err")"
grep -q "port out" "$work/err" || fail "gdr watch: $(cat "$work/err")"
# Out and in: the writes, and their acknowledges. To the next four bytes.
python3 - "$work/watch.json" <<'PY' || fail "gdr watch: $(cat "$work/watch.json")"
import json, sys
port = [nic for nic in json.load(open(sys.argv[1]))["nics"] if nic["name"] == "soft1"][0]
expected = 1000 * (10000 + 10 * 58 + 16) + 1000 * 62
port = port["port"]
assert abs(port["bytes_out"] - expected) < 8 and abs(port["bytes_in"] - expected) < 8, port
PY
echo "all counts right"
