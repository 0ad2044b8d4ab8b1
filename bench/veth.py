"""Two network namespaces with a pair of virtual Ethernet devices between them, while it is needed.

    with Veth(segmentation=True) as veth:
        subprocess.run([*veth.run_in(0), "ip", "address"])  # has veth.addresses[0]
"""
import os
import shutil
import subprocess

MTU = 4200  # of the packets of path MTU 4096
OFFLOADS = ("tx-udp-segmentation", "gso")


class Veth:
    addresses = ("10.211.47.1", "10.211.47.2")

    def __init__(self, segmentation):
        self.segmentation = segmentation
        self.name = f"veth, segmentation offload {'on' if segmentation else 'off'}"
        self.namespaces = [f"gdrkit-bench-{os.getpid()}-{side}" for side in (0, 1)]

    @staticmethod
    def unable():
        """Why it cannot be made; None: it can."""
        if os.geteuid() != 0:
            return "network namespaces are made by root only"
        for program, package in (("ip", "iproute2"), ("ethtool", "ethtool")):
            if not shutil.which(program):
                return f"{program} is not installed (Debian: {package})"
        return None

    def run_in(self, side):
        return ["ip", "netns", "exec", self.namespaces[side]]

    def __enter__(self):
        try:
            for namespace in self.namespaces:
                run("ip", "netns", "add", namespace)
            run("ip", "-n", self.namespaces[0], "link", "add", "veth0", "type", "veth",
                "peer", "name", "veth0", "netns", self.namespaces[1])
            for side, namespace in enumerate(self.namespaces):
                run("ip", "-n", namespace, "link", "set", "lo", "up")
                run("ip", "-n", namespace, "address", "add", f"{self.addresses[side]}/24",
                    "dev", "veth0")
                run("ip", "-n", namespace, "link", "set", "veth0", "mtu", str(MTU), "up")
                if not self.segmentation:
                    run(*self.run_in(side), "ethtool", "-K", "veth0",
                        *(word for offload in OFFLOADS for word in (offload, "off")))
            return self
        except BaseException:
            self.remove()
            raise

    def __exit__(self, *_):
        self.remove()

    def remove(self):
        for namespace in self.namespaces:
            subprocess.run(["ip", "netns", "delete", namespace], check=False,
                           stderr=subprocess.DEVNULL)


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
