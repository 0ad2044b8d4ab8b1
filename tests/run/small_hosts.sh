#!/bin/sh
# small_hosts.sh GDR FILTERED: two processes of a program that nobody here wrote, and gdr prove, where a
# container or a small machine refuses things: system calls, descriptors, rights, shared memory.
set -eu
gdr=$1
filtered=$2
# In a network namespace of its own: with few descriptors a process has none for those of other tests,
# which it would meet.
if [ "${3:-}" != apart ]; then
  apart="unshare --net"
  [ "$(id -u)" -eq 0 ] || apart="unshare --user --map-root-user --net"
  # shellcheck disable=SC2086  # a list
  if ! $apart ip link set lo up 2>/dev/null; then
    echo "skipped: no network namespace can be had here (unshare, ip), to be apart from other tests"
    exit 77
  fi
  # shellcheck disable=SC2016,SC2086  # expanded by the shell inside; a list
  exec $apart sh -c 'ip link set lo up && exec "$@"' sh "$0" "$gdr" "$filtered" apart
fi
folder=$(mktemp -d)
server=
# shellcheck disable=SC2317  # called by the trap
end() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  rm -rf "$folder"
}
trap end EXIT
failed=0
port=$((20000 + $$ * 7 % 12000)) # different from one test to the next that runs beside this one

# pair NAME PREFIX...: ibv_rc_pingpong with itself, both sides behind the prefix.
pair() {
  name=$1
  shift
  port=$((port + 1))
  timeout 300 "$@" "$gdr" run -- ibv_rc_pingpong -g 3 -n 50 -p "$port" >"$folder/server" 2>&1 &
  server=$!
  tries=0
  until timeout 300 "$@" "$gdr" run -- ibv_rc_pingpong -g 3 -n 50 -p "$port" 127.0.0.1 \
    >"$folder/client" 2>&1; do
    tries=$((tries + 1))
    if [ "$tries" -ge 200 ] || ! grep -q "connect to" "$folder/client"; then
      echo "$name: the client fails:"
      cat "$folder/client" "$folder/server"
      failed=1
      kill "$server" 2>/dev/null || true
      break
    fi
    sleep 0.2
  done
  wait "$server" || { echo "$name: the server fails:"; cat "$folder/server"; failed=1; }
  server=
  echo "$name: done"
}

# proves NAME PREFIX...
proves() {
  name=$1
  shift
  if ! timeout 1200 "$@" "$gdr" prove --soft >"$folder/proof" 2>&1; then
    echo "$name: gdr prove fails:"
    cat "$folder/proof"
    failed=1
  fi
  echo "$name: done"
}

for error in EPERM ENOSYS; do
  pair "system calls refused with $error" "$filtered" "$error"
  proves "gdr prove, system calls refused with $error" "$filtered" "$error"
done
# Batch systems limit the address space of a process.
limited='ulimit -v "$0" && exec "$@"'
pair "300 MB of address space" sh -c "$limited" 300000
proves "gdr prove, 2 GB of address space" sh -c "$limited" 2000000
# Too little: the reason, and not that a link is down.
few=0
timeout 600 sh -c "$limited" 80000 "$gdr" prove --soft --memory host >"$folder/proof" 2>&1 || few=$?
if [ "$few" -ne 1 ] || ! grep -q "only 78 MiB (RLIMIT_AS)" "$folder/proof" ||
  grep -q "link" "$folder/proof"; then
  echo "gdr prove, 80 MB of address space: ends with $few:"
  cat "$folder/proof"
  failed=1
fi
# A process and its peer may introduce themselves to each other at once: for that moment each holds
# some 20 descriptors, and a program whose own accept() comes just then needs one more.
pair "24 descriptors" "$filtered" 24
# Fewer than the program and the library need: an error, soon.
timeout 300 "$filtered" 12 "$gdr" run -- ibv_rc_pingpong -g 3 -p "$port" >"$folder/server" 2>&1 &
server=$!
sleep 1
few=0
timeout 300 "$filtered" 12 "$gdr" run -- ibv_rc_pingpong -g 3 -p "$port" 127.0.0.1 \
  >"$folder/client" 2>&1 || few=$?
kill "$server" 2>/dev/null || true
wait "$server" || true
server=
if [ "$few" -eq 0 ] || [ "$few" -ge 124 ]; then
  echo "12 descriptors: the client ends with $few"
  cat "$folder/client"
  failed=1
fi
echo "12 descriptors: done"
pair "no capability at all" setpriv --bounding-set=-all --inh-caps=-all --no-new-privs
if unshare --mount true 2>/dev/null; then
  # shellcheck disable=SC2016  # expanded by the shell inside
  pair "a shared memory of 1 MiB" unshare --mount sh -c \
    'mount -t tmpfs -o size=1m none /dev/shm && exec "$@"' sh
else
  echo "skipped: no mount namespace can be had here, for a container with little shared memory"
fi
exit "$failed"
