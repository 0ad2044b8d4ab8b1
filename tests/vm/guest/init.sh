#!/bin/sh
# The guest's first process. Brings the system up and then does what the host asks for, until the
# host has it power off. A request is a line on the virtio port "lab", `ID SECONDS COMMAND`, and runs
# beside those before it for at most that many seconds; the answer is a line `ID STATUS BYTES` and so
# many bytes, which the command wrote. ID 0 says that the guest is up. See tests/vm/lab.py.
export PATH=/usr/bin:/usr/sbin:/bin:/sbin:/lab/bin:/opt/gdrkit/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/shm /dev/pts
mount -t tmpfs shm /dev/shm
mount -t devpts pts /dev/pts
mount -t tmpfs run /run
mount -t tmpfs tmp /tmp
# shellcheck disable=SC3045  # dash knows it
ulimit -l unlimited
ip link set lo up
modprobe -a virtio_pci virtio_console virtio_rng virtio_net

if grep -q 'lab=shell' /proc/cmdline; then
  setsid cttyhack /bin/sh -i
  poweroff -f
fi

port=
for attempt in 1 2 3 4 5 6 7 8 9 10; do
  for name in /sys/class/virtio-ports/*/name; do
    [ "$(cat "$name" 2>/dev/null)" != lab ] || port=/dev/$(basename "$(dirname "$name")")
  done
  [ -z "$port" ] || [ ! -e "$port" ] || break
  sleep 0.2
done
echo "lab: kernel $(uname -r), attempt $attempt, port $port"
[ -e "$port" ] || poweroff -f
exec 3<>"$port"

# One process writes to the port: answers must not mix.
mkfifo /run/finished
exec 4<>/run/finished
while read -r id status <&4; do
  echo "$id $status $(wc -c <"/run/out.$id")" >&3
  cat "/run/out.$id" >&3
  rm -f "/run/out.$id"
done &

uname -r >/run/out.0
echo 0 0 >&4
while read -r id seconds command <&3; do
  {
    # A process group for each, which ends as a whole.
    setsid /bin/sh -c "$command" >"/run/out.$id" 2>&1 3<&- 4<&- </dev/null &
    group=$!
    echo "$group" >"/run/group.$id"
    setsid /bin/sh -c "sleep $seconds; kill -KILL -$group" 3<&- 4<&- </dev/null &
    status=0
    wait "$group" || status=$?
    kill -KILL -$! 2>/dev/null || kill -KILL $!
    rm "/run/group.$id"
    echo "$id $status" >&4
  } &
done
poweroff -f
