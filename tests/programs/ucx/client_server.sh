#!/bin/sh
# client_server.sh GDR: ucp_client_server, UCX's own example, which connects by the connection manager:
# tagged, stream and active messages over rc, ud, and what UCX chooses itself.
set -eu
gdr=$1
source=/usr/share/doc/libucx-dev/examples/ucp_client_server.c
[ -e "$source" ] || { echo "skipped: no $source (package libucx-dev)"; exit 77; }
work=$(mktemp -d)
server=
# shellcheck disable=SC2317  # called by the trap
end() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  rm -rf "$work"
}
trap end EXIT
cc -O1 -o "$work/ucp_client_server" "$source" -lucp -lucs
export UCX_WARN_UNUSED_ENV_VARS=n

# run API TLS: none is UCX's own choice.
run() {
  unset UCX_TLS
  [ -z "$2" ] || export UCX_TLS="$2"
  port=$((20000 + ($$ * 7 + runs * 41) % 10000))
  runs=$((runs + 1))
  timeout 600 "$gdr" run --quiet --soft-nic --no-soft-gpu -- \
    "$work/ucp_client_server" -c "$1" -p "$port" >"$work/server" 2>&1 &
  server=$!
  tries=0
  until timeout 400 "$gdr" run --quiet --soft-nic --no-soft-gpu -- \
    "$work/ucp_client_server" -a 127.10.0.1 -c "$1" -p "$port" >"$work/client" 2>&1 &&
    grep -q "^ABCDEFGHIJKLMNO" "$work/client" "$work/server"; do
    tries=$((tries + 1))
    [ "$tries" -lt 200 ] || { echo "FAILED: $1, UCX_TLS=$2"; cat "$work/client" "$work/server"; exit 1; }
    sleep 0.2
  done
  kill "$server" 2>/dev/null || true
  wait "$server" 2>/dev/null || true
  server=
  echo "ok  $1, UCX_TLS=${2:-(unset)}"
}

runs=0
for api in tag stream am; do
  for tls in rc ud ''; do
    run "$api" "$tls"
  done
done
