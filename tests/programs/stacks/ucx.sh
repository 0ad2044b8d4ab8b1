#!/bin/sh
# ucx.sh GDR TRANSPORT TEST...: ucx_perftest between two processes, over that transport of the software
# NIC alone. UCX finds the NIC by its device node, so each way to show that is used in turn.
set -eu
gdr=$1
transport=$2
shift 2
command -v ucx_perftest >/dev/null || { echo "skipped: no ucx_perftest (package ucx-utils)"; exit 77; }
work=$(mktemp -d)
server=
# shellcheck disable=SC2317  # called by the trap
end() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  rm -rf "$work"
}
trap end EXIT
export UCX_TLS="$transport" UCX_NET_DEVICES=soft0:1 UCX_WARN_UNUSED_ENV_VARS=n

# run_pair WAY TEST: fails unless the client prints its figures.
run_pair() {
  size=4096
  [ "$2" != ucp_fadd ] || size=8  # an atomic operation's
  port=$((20000 + $$ % 10000))
  for attempt in 1 2 3; do
    port=$((port + 37 * attempt))
    "$gdr" run --quiet --soft-nic --presence "$1" -- ucx_perftest -p "$port" >"$work/server" 2>&1 &
    server=$!
    tries=0
    until timeout 400 "$gdr" run --quiet --soft-nic --presence "$1" -- \
      ucx_perftest 127.0.0.1 -p "$port" -t "$2" -s "$size" -n 200 -w 10 >"$work/client" 2>&1; do
      tries=$((tries + 1))
      [ "$tries" -lt 250 ] && grep -q "Connection refused" "$work/client" || break
      sleep 0.2
    done
    kill "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
    server=
    ! grep -q "Address already in use" "$work/server" || continue
    break
  done
  if ! grep -q "^Final: *200 " "$work/client" || grep -q "ERROR\|error:" "$work/client"; then
    echo "FAILED: $transport, $1, $2"
    cat "$work/client" "$work/server"
    exit 1
  fi
  echo "ok  $transport, $1: $2"
}

for test in "$@"; do
  run_pair auto "$test"
done
run_pair preload "$1"
