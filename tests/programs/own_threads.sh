#!/bin/sh
# own_threads.sh GDR: while ib_send_lat runs, as it is, the software RNIC's own threads use less than
# one hundredth of the CPU time of either process: the programs' threads carry their bytes
# themselves.
set -eu
gdr=$1
program=ib_send_lat
# shellcheck source=tests/programs/pair.sh
. "$(dirname "$0")/pair.sh"

# Of a process: its own threads' and the software RNIC's clock ticks, and how many those threads are.
# After the name, which may hold anything, utime and stime are fields 12 and 13.
ticks_of() {
  cat "/proc/$1/task/"*/stat 2>/dev/null |
    awk '{
      name = $0; sub(/^[^(]*\(/, "", name); sub(/\)[^)]*$/, "", name)
      rest = $0; sub(/^.*\) /, "", rest); split(rest, field, " ")
      used = field[12] + field[13]
      if (name ~ /^gdr-/) { own += used; threads++ } else { program += used }
    } END { print program + 0, own + 0, threads + 0 }'
}

# timeout's only child, which became the program. Fields behind the name: the second is the parent.
child_of() {
  cat /proc/[0-9]*/stat 2>/dev/null |
    awk -v parent="$1" '{
      rest = $0; sub(/^.*\) /, "", rest); split(rest, field, " ")
      if (field[2] == parent) { print $1; exit }
    }'
}

start_pair -d soft0 -D 3
server_pid=
client_pid=
while kill -0 "$client" 2>/dev/null && kill -0 "$server" 2>/dev/null; do
  sleep 0.1
  [ -n "$server_pid" ] || server_pid=$(child_of "$server")
  [ -n "$client_pid" ] || client_pid=$(child_of "$client")
  for side in server client; do
    [ "$side" = server ] && pid=$server_pid || pid=$client_pid
    ticks=$(ticks_of "$pid")
    # The last that was seen with everything there: a process that ends has no threads any more.
    [ "${ticks##* }" -ne 2 ] || echo "$ticks" >"$work/$side.ticks"
  done
done
finish_pair

for side in server client; do
  [ -s "$work/$side.ticks" ] || fail "the $side was not seen with two threads of the software RNIC"
  read -r used own threads <"$work/$side.ticks"
  echo "$side: the program's threads used $used clock ticks, the software RNIC's $threads used $own"
  [ "$used" -ge 20 ] || fail "the $side hardly ran"
  [ $((own * 100)) -lt $((used + own)) ] || fail "the software RNIC's threads are busy in the $side"
done
