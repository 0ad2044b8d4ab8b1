#!/bin/sh
# connected.sh [--ends] GDR PATTERN SERVER... -- CLIENT...: two programs that find each other by
# librdmacm, which no table of sockets shows: the client waits a while for the server. Both must end
# with 0, but for a server that serves on, neither may complain, and the client must print a line like
# PATTERN. PORT stands for a port of this run.
#
# --ends: the server ends by itself, and prints such a line, too: it is what counts what has arrived.
set -eu
ends=
[ "$1" != --ends ] || { ends=1; shift; }
gdr=$1
pattern=$2
shift 2
command -v "$1" >/dev/null ||
  { echo "skipped: no $1 (packages rdmacm-utils, libfabric-bin, perftest)"; exit 77; }
port=$((20000 + $$ % 10000))
words() { printf '%s' "$*" | sed "s/PORT/$port/g"; }
server_words=
while [ "$1" != -- ]; do
  server_words="$server_words $1"
  shift
done
shift
work=$(mktemp -d)
server=
# shellcheck disable=SC2317  # called by the trap
end() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  rm -rf "$work"
}
trap end EXIT
complains() { grep -Eiq "error|fail|mismatch" "$@"; }
fail() {
  echo "$1"
  cat "$work"/*
  exit 1
}
server_ends() {
  tenths=500
  while kill -0 "$server" 2>/dev/null; do
    tenths=$((tenths - 1))
    [ $tenths -gt 0 ] || return 1
    sleep 0.1
  done
  grep -Eq -- "$pattern" "$work/server"
}
# A client that comes while its server begins to listen leaves it a part of its connections, and
# the server ends: then both are started again, and the server is given longer. cmtime ends with 0
# although nobody was there.
meet() { # SECONDS CLIENT...: how long the server is given to listen
  patience=$1
  shift
  # shellcheck disable=SC2046  # words
  timeout -k 5 600 "$gdr" run --soft-nic --no-soft-gpu -- $(words "$server_words") \
    >"$work/server" 2>&1 &
  server=$!
  sleep "$patience"
  # shellcheck disable=SC2046  # words
  timeout -k 5 150 "$gdr" run --soft-nic --no-soft-gpu -- $(words "$@") >"$work/client" 2>&1 &&
    ! complains "$work/client" && { [ -z "$ends" ] || server_ends; } && return
  cat "$work/client" "$work/server" >>"$work/tried"
  kill "$server" 2>/dev/null || true
  wait "$server" || true
  return 1
}
meet 0.4 "$@" || meet 1.5 "$@" || meet 4 "$@" || meet 15 "$@" || meet 60 "$@" || fail "the client failed"
# A server that serves on is ended.
sleep 0.2
kill "$server" 2>/dev/null || true
status=0
wait "$server" || status=$?
server=
[ "$status" = 0 ] || [ "$status$ends" = 143 ] || fail "the server ends with $status"
! complains "$work/server" || fail "a program complains"
grep -q "software NIC: opened soft0.* queue pair" "$work/client" || fail "not over the software NIC"
grep -Eq -- "$pattern" "$work/client" || fail "no line like $pattern"
cat "$work/client"
