"""A synthetic host with eight GPUs behind switches, each beside a NIC, as sysfs and procfs show it."""

import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from captured_root import CapturedRoot


def configuration(vendor, device, kind, acs):
    space = bytearray(4096)
    struct.pack_into("<HH", space, 0, vendor, device)
    space[0x34] = 0x40
    struct.pack_into("<HH", space, 0x40, 0x10, 2 | kind << 4)
    struct.pack_into("<H", space, 0x48, 1 << 5 | 5 << 12 | 0x10)
    struct.pack_into("<HH", space, 0x100, 0x0003, 1 | (0x170 << 4 if acs is not None else 0))
    if acs is not None:
        struct.pack_into("<HHHH", space, 0x170, 0x000D, 1, 0x5F, acs)
    return bytes(space)


class Machine(CapturedRoot):
    def __init__(self, root):
        super().__init__(root)
        self.places = {}

    def link(self, path, target):
        link = self.root / path
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to("/" + target)  # from the top of its own root

    def put(self, address, parent, vendor, device, kind, code, acs=None, driver="", node=0):
        above = f"sys/devices/{parent}" if parent.startswith("pci") else self.places[parent]
        place = self.places[address] = f"{above}/{address}"
        self.function(place, f"0x{vendor:04x}", f"0x{code:06x}", f"0x{device:04x}", node)
        self.write(f"{place}/config", configuration(vendor, device, kind, acs))
        if driver:
            (self.root / f"sys/bus/pci/drivers/{driver}").mkdir(parents=True, exist_ok=True)
            self.link(f"{place}/driver", f"sys/bus/pci/drivers/{driver}")
        return place

    def nic(self, name, address, netdev):
        place = self.places[address]
        folder = f"{place}/infiniband/{name}"
        port = f"{folder}/ports/1"
        for path, value in [
            (f"{folder}/fw_ver", "28.39.1002"), (f"{folder}/board_id", "MT_0000000838"),
            (f"{port}/state", "4: ACTIVE"), (f"{port}/phys_state", "5: LinkUp"),
            (f"{port}/rate", "400 Gb/sec (4X NDR)"), (f"{port}/link_layer", "Ethernet"),
            (f"{port}/gids/0", "0000:0000:0000:0000:0000:ffff:c0a8:0001"),
            (f"{port}/gid_attrs/types/0", "RoCE v2"), (f"{port}/gid_attrs/ndevs/0", netdev),
            (f"{place}/net/{netdev}/mtu", 9000), (f"{place}/net/{netdev}/address", "0c:42:a1:0:0:1"),
        ]:
            self.line(path, value)
        self.link(f"{folder}/device", place)
        self.link(f"sys/class/infiniband/{name}", folder)
        self.link(f"sys/class/net/{netdev}", f"{place}/net/{netdev}")

    def group(self, number):
        bus = 0x10 + 0x10 * number
        root, up = f"0000:{bus:02x}:01.0", f"0000:{bus + 1:02x}:00.0"
        left, right = f"0000:{bus + 2:02x}:01.0", f"0000:{bus + 2:02x}:02.0"
        gpu, nic = f"0000:{bus + 3:02x}:00.0", f"0000:{bus + 4:02x}:00.0"
        node = number // 4
        self.put(root, f"pci0000:{bus:02x}", 0x8086, 0x352A, 4, 0x060400, 0, node=node)
        self.put(up, root, 0x1000, 0xC030, 5, 0x060400, node=node)
        self.put(left, up, 0x1000, 0xC030, 6, 0x060400, 0, node=node)
        self.put(right, up, 0x1000, 0xC030, 6, 0x060400, 0, node=node)
        self.put(gpu, left, 0x10DE, 0x2330, 0, 0x030200, driver="nvidia", node=node)
        self.put(nic, right, 0x15B3, 0x1021, 0, 0x020000, driver="mlx5_core", node=node)
        self.nic(f"mlx5_{number}", nic, f"ens{number}np0")
        self.write(f"{self.places[gpu]}/resource",
                   "0x00000000a0000000 0x00000000a0ffffff 0x0000000000040200\n"
                   "0x00004c0000000000 0x00004c1fffffffff 0x000000000014220c\n")

    def host(self, gpus=8):
        for number in range(gpus):
            self.group(number)
        for path, value in [
            ("proc/sys/kernel/osrelease", "6.8.0-45-generic\n"), ("proc/cmdline", "ro quiet\n"),
            ("proc/cpuinfo", "flags\t\t: fpu\n"),
            ("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64"
                                           "  580.95.05  Release Build\n"),
            ("proc/driver/nvidia/params", "DmaRemapPeerMmio: 1\nGrdmaPciTopoCheckOverride: 0\n"),
            ("sys/module/nvidia/version", "580.95.05\n"),
            ("sys/module/ib_core/parameters/netns_mode", "Y\n"),
            ("sys/kernel/security/lockdown", "[none] integrity confidentiality\n"),
            ("proc/self/limits", "Max locked memory         unlimited            unlimited\n"),
            ("proc/self/status", "CapEff:\t0000000000000000\n"),
        ]:
            self.write(path, value)
        # As many symbols and processes as a host of this size has.
        self.write("proc/kallsyms", "".join(
            f"0000000000000000 T symbol_of_some_module_{n}\t[some_module]\n" for n in range(220000)))
        for process in range(1000, 3000):
            self.write(f"proc/{process}/comm", "worker\n")
        for name in ["nvidiactl", "nvidia-uvm", "infiniband/rdma_cm", "infiniband/uverbs0"]:
            self.write(f"dev/{name}", "")
        for folder in ["sys/class/iommu", "sys/kernel/iommu_groups"]:
            (self.root / folder).mkdir(parents=True, exist_ok=True)
        return self
