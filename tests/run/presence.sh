#!/bin/sh
# gdr run shows the software NIC in /dev and /sys, each way it has; the machine itself stays as it is.
set -eu
gdr=$1
filtered=$2
work=$(mktemp -d)
chmod 755 "$work"
trap 'rm -rf "$work"' EXIT
unset GDR_SOFT_DEVICES GDR_PRESENCE GDR_SOFT_PATH GDR_SOFT_COUNTERS LD_PRELOAD LD_LIBRARY_PATH
if [ -e /sys/class/infiniband ] || [ -n "$(ls /dev/infiniband 2>/dev/null)" ]; then
  echo "skipped: this machine has RDMA devices of its own"
  exit 77
fi

fail() { echo "FAILED: $*"; exit 1; }

# shown WAY WORDS COMMAND...: the command sees the devices, and gdr run says how.
shown() {
  way=$1
  words=$2
  shift 2
  GDR_SOFT_DEVICES=mlx5_0,mlx5_1/speed=200 "$@" "$gdr" run --soft-nic --presence "$way" -- sh -eu -c '
    [ -c /dev/infiniband/uverbs1 ] && [ -r /dev/infiniband/uverbs1 ] && [ -w /dev/infiniband/uverbs1 ]
    [ "$(cat /sys/class/infiniband/mlx5_1/ports/1/rate)" = "200 Gb/sec (4X HDR)" ]
    [ "$(cat /sys/class/infiniband_verbs/uverbs1/ibdev)" = mlx5_1 ]
    [ "$(ls /sys/class/infiniband | tr "\n" " ")" = "mlx5_0 mlx5_1 " ]
    [ "$(readlink -f /sys/class/infiniband/mlx5_0/node_guid)" = /sys/class/infiniband/mlx5_0/node_guid ]
    [ "$(cat /sys/class/infiniband/mlx5_0/ports/1/gid_attrs/types/3)" = "RoCE v2" ]
    # In a user namespace it could be opened, and would answer with nothing.
    if [ "$1" = user ]; then [ ! -e /dev/infiniband/rdma_cm ]; else
      [ -c /dev/infiniband/rdma_cm ]
      ! true </dev/infiniband/rdma_cm || exit 1
    fi
    [ "$(cat /sys/class/misc/rdma_cm/abi_version)" = 4 ] && ls /sys/class/misc | grep -qx rdma_cm
    [ -z "$2" ] || [ -e "/sys/class/misc/$2/dev" ]
    [ -d /sys/class/net/lo ] && [ -c /dev/null ] && echo x >/dev/null
    echo seen' sh "${nodes:-}" "$misc" >"$work/out" 2>"$work/err" || fail "$way: $(cat "$work/err")"
  [ "$(cat "$work/out")" = seen ] || fail "$way: not everything is seen: $(cat "$work/err")"
  grep -q "$words" "$work/err" || fail "$way: no '$words' in: $(cat "$work/err")"
}

# No program may reach a real NIC by them.
cannot_be_opened() {
  "$gdr" run --soft-nic --presence "$1" -- sh -c 'cat /dev/infiniband/uverbs0' 2>&1 |
    grep -q "No such device or address" || fail "$1: the device can be opened"
}

classes=$(ls /sys/class /dev)
misc=$(ls /sys/class/misc 2>/dev/null | head -n 1)
shown preload "(preload)" env
cannot_be_opened preload
"$gdr" run --soft-nic --presence none -- sh -c '[ ! -e /dev/infiniband/uverbs0 ] && [ ! -e /sys/class/infiniband ]' \
  2>/dev/null || fail "none: something is shown"

# A program that looks without the C library's usual calls: statx, and entries by their folder.
if command -v python3 >/dev/null; then
  "$gdr" run --soft-nic --presence preload -- python3 -c '
import os, stat
assert stat.S_ISCHR(os.stat("/dev/infiniband/uverbs0").st_mode)
assert sorted(entry.name for entry in os.scandir("/sys/class/infiniband")) == ["soft0", "soft1"]
folder = os.open("/sys/class/infiniband/soft0", os.O_RDONLY)
assert os.read(os.open("node_type", os.O_RDONLY, dir_fd=folder), 99) == b"1: CA\n"
assert os.path.realpath("/sys/class/infiniband/soft0/") == "/sys/class/infiniband/soft0"
os.chdir("/sys/class/infiniband/soft1")
assert os.getcwd() == "/sys/class/infiniband/soft1", os.getcwd()
assert open("node_type").read() == "1: CA\n"
assert open(os.path.realpath("fw_ver")).read().endswith("\n")
os.chdir("/proc/self")
assert os.getcwd().startswith("/proc/"), os.getcwd()
import ctypes
# Programs built with glibc before 2.33 call this; the mode is at 24.
for call, where in ("__xstat", ()), ("__lxstat", ()), ("__fxstatat", (-100,)), ("__fxstatat64", (-100,)):
    status = ctypes.create_string_buffer(256)
    last = (0,) if where else ()
    assert ctypes.CDLL(None)[call](1, *where, b"/dev/infiniband/uverbs0", status, *last) == 0, call
    assert stat.S_ISCHR(int.from_bytes(status[24:28], "little")), call
class Found(ctypes.Structure):
    _fields_ = [("count", ctypes.c_size_t), ("paths", ctypes.POINTER(ctypes.c_char_p)),
                ("rest", ctypes.c_char * 128)]
for call in ctypes.CDLL(None).glob, ctypes.CDLL(None).glob64:
    found = Found()
    assert call(b"/sys/class/infiniband/s*/ports/*/state", 0, None, ctypes.byref(found)) == 0
    assert [found.paths[i] for i in range(found.count)] == [
        b"/sys/class/infiniband/soft0/ports/1/state", b"/sys/class/infiniband/soft1/ports/1/state"]
    assert call(b"/etc/host*", 0, None, ctypes.byref(found)) == 0 and found.count > 0' \
    2>"$work/err" || fail "python3: $(cat "$work/err")"
fi

# By netlink, as iproute2's `rdma` and its library ask: a socket that binds, is asked, and answers.
answers_netlink() {
  "$gdr" run --soft-nic --presence "$1" -- python3 -c '
import socket, struct
asker = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 20)  # NETLINK_RDMA
asker.settimeout(100)
asker.bind((0, 0))
dump = struct.pack("=IHHII", 16, 5 << 10 | 1, 0x301, 7, 0)  # RDMA_NLDEV_CMD_GET
asker.sendto(dump, (0, 0))
answers = [asker.recv(4096) for _ in range(3)]
assert b"soft0\0" in answers[0] and b"soft1\0" in answers[1], answers
assert struct.unpack("=IHHII", answers[2][:16])[1] == 3, answers  # NLMSG_DONE
assert all(struct.unpack("=IHHII", one[:16])[4] == asker.getsockname()[0] for one in answers)' \
    2>"$work/err" || fail "netlink, $1: $(cat "$work/err")"
  command -v rdma >/dev/null || return 0
  "$gdr" run --quiet --soft-nic --presence "$1" -- rdma link >"$work/out" 2>&1 || fail "rdma, $1: $(cat "$work/out")"
  grep -q "^link soft1/1 state ACTIVE physical_state LINK_UP" "$work/out" || fail "rdma, $1: $(cat "$work/out")"
}
if command -v python3 >/dev/null; then answers_netlink preload; fi

# gdr itself counts them as no NIC: run within run, and what it lists.
"$gdr" run --soft-nic -- "$gdr" run -- true 2>"$work/err" || fail "within: $(cat "$work/err")"
[ "$(grep -c "^gdr run: software NIC (" "$work/err")" = 2 ] || fail "within: $(cat "$work/err")"

namespace=
if unshare -m true 2>/dev/null; then
  namespace=yes
  shown namespace "(mount namespace)" env
  cannot_be_opened namespace
  if command -v python3 >/dev/null; then answers_netlink namespace; fi
  shown auto "(mount namespace)" env
  # In a mount namespace without /sys.
  for way in namespace preload; do
    unshare -m sh -c "mount -t tmpfs none /sys; $gdr run --soft-nic --presence $way -- sh -c '
      [ -c /dev/infiniband/uverbs0 ] && cat /sys/class/infiniband/soft0/node_type; ls /sys'" \
      >"$work/out" 2>"$work/err" || fail "without /sys, $way: $(cat "$work/err")"
    [ "$(head -n 1 "$work/out")" = "1: CA" ] || fail "without /sys, $way: $(cat "$work/out")"
  done
fi

# Asking the library for its devices is not the program's doing.
"$gdr" run --soft-nic -- "$gdr" run -- true 2>&1 | tail -n 1 |
  grep -q "did not use the software NIC" || fail "what gdr run itself opens is counted"

# What a container's filter of system calls refuses.
status=0
"$filtered" EPERM true 2>/dev/null || status=$?
[ "$status" != 77 ] || { echo "skipped: no filter of system calls here"; exit 77; }
shown auto "(preload; a mount namespace: \(unshare\|needs root\)" "$filtered" EPERM

# An ordinary user's programs still meet without packets.
if [ "$(id -u)" = 0 ]; then
  ordinary="setpriv --reuid=54440 --regid=54440 --clear-groups env -u XDG_RUNTIME_DIR HOME=$work"
  # shellcheck disable=SC2086  # words
  shown auto "(preload; a mount namespace: needs root)" $ordinary
  # shellcheck disable=SC2086
  if $ordinary unshare -U true 2>/dev/null; then
    # Nobody makes devices in a user namespace, so there it can be opened.
    nodes=user shown namespace "(mount namespace)" $ordinary
  fi
  rm -rf /tmp/gdrkit-54440
fi

[ "$classes" = "$(ls /sys/class /dev)" ] || fail "the machine is not as it was before"
status=0
"$gdr" run --soft-nic --presence magic -- true 2>"$work/err" || status=$?
[ "$status" = 2 ] && grep -q "'magic': allowed are auto, namespace, preload and none" "$work/err" ||
  fail "wrong value: exit status $status: $(cat "$work/err")"

# UCX looks for the node, and nothing else tells it of the devices.
if command -v ucx_info >/dev/null; then
  for way in preload ${namespace:+namespace}; do
    found=$("$gdr" run --soft-nic --presence "$way" -- ucx_info -d 2>/dev/null |
      grep -c "Transport: \(rc\|ud\)_verbs")
    [ "$found" = 4 ] || fail "ucx_info, $way: $found of 4 transports"
  done
fi
echo "all ways right"
