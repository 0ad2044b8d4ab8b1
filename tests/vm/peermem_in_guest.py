"""What the tests of the peer-memory module ask of the guest.

    host = PeerMemory(guest)
    host.load("open", persistent=False)
    host.check("transfers")
    host.unload()
"""
import re

import lab
from lab import expect

CHECK = "/lab/bin/peermem_check"
# Nothing of a test is left when all of these are 0.
LEFT = {
    "nvidia": ("allocations", "pinned_pages", "tables", "mappings"),
    "nvidia_peermem": ("live_regions", "live_bytes"),
    "peer_core": ("regions",),
}
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

    def load(self, driver, persistent=True, module=None):
        self.guest.check(f"insmod /lab/ko/nvidia-{driver}.ko")
        self.load_module(module or driver, persistent)

    def load_module(self, kind, persistent=True):
        status, log = self.insert(f"nvidia-peermem-{kind}", "" if persistent else "persistent=0")
        expect(status == 0, f"nvidia-peermem-{kind} cannot be loaded: {log}")
        self.set("peer_core", "old_locks", 0)

    def unload(self):
        self.nothing_left()
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
        output = self.guest.check(f"{CHECK} {case}", seconds)
        self.nothing_left()
        return output.strip()

    def expect_log(self, *patterns):
        log = self.log()
        for pattern in patterns:
            expect(re.search(pattern, log), f"the log lacks '{pattern}':\n{log}")
        lines = [line for line in log.splitlines() if "nvidia_peermem:" in line]
        return "\n".join(lines)

    def nothing_left(self):
        """A thread of the module may have some of it for a moment after the program has ended."""
        names = " ".join(f"/sys/module/{module}/parameters/{name}"
                         for module, parameters in LEFT.items() for name in parameters)
        # Regions of a killed process end with it, a little later than the shell that waits for it.
        status, output = self.guest.run(
            f"for i in 1 2 3 4 5 6 7 8 9 10; do left=$(grep -v -x -h 0 {names} 2>/dev/null | wc -l); "
            f"[ $left != 0 ] || exit 0; sleep 0.2; done; grep . {names}; exit 1")
        expect(status == 0, f"something is left:\n{output}")


def run(test, release=""):
    import sys
    check = lab.pathlib.Path(sys.argv[1]).resolve() / "tests" / "vm" / "peermem_check"
    with lab.Guest.boot(sys.argv[1], [check], kernel_options=KERNEL_OPTIONS, release=release,
                        modules=True) as guest:
        test(PeerMemory(guest))
        expect(not guest.complaints(), f"the guest's kernel complains:\n{guest.complaints()}")
