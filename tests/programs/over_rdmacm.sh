#!/bin/sh
# over_rdmacm.sh GDR PATTERN PROGRAM ARGS... -- CLIENT_ARGS...: as two_processes.sh, for a server that
# listens with librdmacm, which no table of sockets shows: the client is tried until it is there.
set -eu
gdr=$1
pattern=$2
program=$3
shift 3
command -v "$program" >/dev/null ||
  { echo "skipped: $program is not installed (Debian: perftest, rdmacm-utils)"; exit 77; }
arguments=
while [ "$1" != -- ]; do
  arguments="$arguments $1"
  shift
done
shift
work=$(mktemp -d)
trap 'kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
port=$((20000 + $$ % 10000))
# shellcheck disable=SC2086 # words
timeout -k 1 20 "$gdr" run --soft-nic --no-soft-gpu -- "$program" -p "$port" $arguments \
  >"$work/server" 2>&1 &
server=$!
# A client that comes in the moment in which the server begins to listen can be rejected, and leave the
# server with half a connection.
sleep 1
attempt=0
# shellcheck disable=SC2086
until timeout -k 1 10 "$gdr" run --soft-nic --no-soft-gpu -- "$program" -p "$port" $arguments "$@" \
  >"$work/client" 2>&1; do
  attempt=$((attempt + 1))
  [ "$attempt" -lt 10 ] || { cat "$work/client" "$work/server"; exit 1; }
  sleep 0.2
done
wait "$server" || { echo "the server failed:"; cat "$work/server"; exit 1; }
cat "$work/client"
grep -Eq "$pattern" "$work/client"
