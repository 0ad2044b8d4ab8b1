"""What the tests of the peer-memory module ask of the guest.

    host = PeerMemory(guest)
    host.load("open", persistent=False)
    host.check("transfers")
    host.unload()
"""
import pathlib
import re
import sys

import lab
from lab import expect

CHECK = "/lab/bin/peermem_check"
# Nothing of a test is left when all of these are 0.
LEFT = {
    "nvidia": ("allocations", "pinned_pages", "tables", "mappings"),
    "nvidia_peermem": ("live_regions", "live_bytes"),
    "peer_core": ("regions",),
}
NAMES = " ".join(f"/sys/module/{module}/parameters/{name}"
                 for module, names in LEFT.items() for name in names)
# A thread of the module may have some of it for a moment after a program has ended, and so has a
# process that was killed.
NOTHING_LEFT = (f"i=0; while [ $i -lt 100 ]; do i=$((i + 1)); grep -q -v -x 0 {NAMES} || exit 0; sleep 0.2; "
                f"done; echo 'something is left:'; grep . {NAMES}; exit 1")
KERNEL_OPTIONS = "slub_debug=FZPU,kmalloc-*"  # reports what is used after it was freed


class PeerMemory:
    def __init__(self, guest):
        self.guest = guest
        self._seen = 0
        guest.check("modprobe -a crc32_generic ib_uverbs udp_tunnel ip6_udp_tunnel")
        guest.check("insmod /lab/ko/peer_core.ko && insmod /lab/ko/rdma_rxe.ko")
        guest.check("ip address add 10.9.0.1/24 dev lo && rdma link add rxe0 type rxe netdev lo")

    def insert(self, name, options=""):
        """Its exit status and what the kernel has logged."""
        self.log()
        status, output = self.guest.run(f"insmod /lab/ko/{name}.ko {options} 2>&1")
        return status, self.log() + output

    def load(self, driver, persistent=True, module=None, options=""):
        self.guest.check(f"insmod /lab/ko/nvidia-{driver}.ko")
        self.load_module(module or driver, persistent, options)

    def load_module(self, kind, persistent=True, options=""):
        if not persistent:
            options += " persistent=0"
        status, log = self.insert(f"nvidia-peermem-{kind}", options)
        expect(status == 0, f"nvidia-peermem-{kind} cannot be loaded: {log}")

    def unload(self):
        self.guest.check("rmmod nvidia_peermem && rmmod nvidia")

    def set(self, module, name, value):
        self.guest.check(f"echo {value} >/sys/module/{module}/parameters/{name}")

    def counter(self, name, module="nvidia_peermem"):
        return int(self.guest.check(f"cat /sys/module/{module}/parameters/{name}"))

    def regions(self):
        """The lines of /proc/driver/nvidia_peermem, each as a dictionary."""
        head, *lines = self.guest.check("cat /proc/driver/nvidia_peermem").splitlines()
        return [dict(zip(head.split(), line.split(), strict=True)) for line in lines]

    def log(self):
        """What the kernel has said since the last call."""
        lines = self.guest.check("dmesg").splitlines()
        fresh, self._seen = lines[self._seen:], len(lines)
        return "\n".join(fresh)

    def check(self, case, seconds=120):
        """One command for both, since each costs an emulated guest half a second."""
        status, output = self.guest.run(f"{CHECK} {case} && {{ {NOTHING_LEFT}; }}", seconds)
        expect(status == 0, f"peermem_check {case} ended with {status}: {output}")
        return output.strip()

    def expect_log(self, *patterns):
        log = self.log()
        for pattern in patterns:
            expect(re.search(pattern, log), f"the log lacks '{pattern}':\n{log}")
        lines = [line for line in log.splitlines() if "nvidia_peermem:" in line]
        return "\n".join(lines)

    def nothing_left(self):
        status, output = self.guest.run(NOTHING_LEFT)
        expect(status == 0, output)


def run(test, release=""):
    check = pathlib.Path(sys.argv[1]).resolve() / "tests" / "vm" / "peermem_check"
    with lab.Guest.boot(sys.argv[1], [check], kernel_options=KERNEL_OPTIONS, release=release,
                        modules=True) as guest:
        try:
            test(PeerMemory(guest))
        except lab.Failure:
            print(f"the guest's kernel: {guest.complaints()}")
            raise
        expect(not guest.complaints(), f"the guest's kernel complains:\n{guest.complaints()}")
