#!/bin/sh
# own_threads.sh GDR: while ib_send_lat runs, as it is, the software NIC's own threads use less than
# one hundredth of the CPU time of either process: the programs' threads carry their bytes
# themselves.
set -eu
gdr=$1
program=ib_send_lat
run_options=--quiet # gdr run becomes the program
# shellcheck source=tests/programs/pair.sh
. "$(dirname "$0")/pair.sh"
[ -r /proc/self/schedstat ] ||
  { echo "skipped: this kernel does not tell how long a thread has run (CONFIG_SCHED_INFO)"; exit 77; }

# For a process: the microseconds that its own threads and the software NIC's have run, and how many
# those are. Clock ticks would be too coarse: a hundredth of this is one or two.
time_of() {
  for thread in "/proc/$1/task/"*; do
    read -r name 2>/dev/null <"$thread/comm" && read -r ran rest 2>/dev/null <"$thread/schedstat" ||
      continue
    echo "$name $ran"
  done | awk '{ if ($1 ~ /^gdr-/) { own += $2; threads++ } else program += $2 }
    END { printf "%d %d %d\n", program / 1000, own / 1000, threads }'
}

# timeout's only child, which became the program. Fields behind the name: the second is the parent.
child_of() {
  cat /proc/[0-9]*/stat 2>/dev/null |
    awk -v parent="$1" '{
      rest = $0; sub(/^.*\) /, "", rest); split(rest, field, " ")
      if (field[2] == parent) { print $1; exit }
    }'
}

# The last that is seen of both with all of their threads there: who ends has none any more.
watch_pair() {
  rm -f "$work"/*.time
  server_pid=
  client_pid=
  while kill -0 "$client" 2>/dev/null && kill -0 "$server" 2>/dev/null; do
    sleep 0.1
    [ -n "$server_pid" ] || server_pid=$(child_of "$server")
    [ -n "$client_pid" ] || client_pid=$(child_of "$client")
    [ -n "$server_pid" ] && [ -n "$client_pid" ] || continue
    server_time=$(time_of "$server_pid")
    client_time=$(time_of "$client_pid")
    [ "${server_time##* } ${client_time##* }" = "2 2" ] || continue
    echo "$server_time" >"$work/server.time"
    echo "$client_time" >"$work/client.time"
  done
}

is_quiet() {
  [ -s "$work/$1.time" ] || fail "the $1 was not seen with two threads of the software NIC"
  read -r used own threads <"$work/$1.time"
  echo "$1: the program's threads ran for $used us, the software NIC's $threads for $own us"
  [ "$used" -ge 100000 ] && [ $((own * 100)) -lt $((used + own)) ]
}

# Where other programs take the CPU from a thread in the middle of a message, the software NIC's
# wait for it and look: a measurement that was disturbed is repeated.
for _ in 1 2 3 4 5 6 7 8 9 10; do
  start_pair -d soft0 -D 3
  watch_pair
  finish_pair
  ! is_quiet server || ! is_quiet client || exit 0
done
fail "the software NIC's threads are busy, or the program hardly ran"
