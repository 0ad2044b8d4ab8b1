"""The files of /sys and /proc that show a machine's devices, below a folder (the kernel's
Documentation/ABI/testing/sysfs-bus-pci and sysfs-class-infiniband)."""

import os
import pathlib

from formats.capabilities import express_of
from formats.config_space import configuration
from formats.resources import windows as windows_of
from model import Disk, Net, Rdma


class Root:
    def __init__(self, machine, folder):
        self.machine = machine
        self.folder = pathlib.Path(folder)
        self.paths = {}

    def write(self):
        windows = windows_of(self.machine)
        for place in self.machine.places():
            self._function(place, windows[place.address])
        self._nodes()
        self._processors()
        self._system()

    def _file(self, path, content):
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            file.write_bytes(content)
        else:
            file.write_text(f"{content}\n")

    def _link(self, path, target):
        link = self.folder / path
        link.parent.mkdir(parents=True, exist_ok=True)
        # As the kernel does it (fs/kernfs/symlink.c): over the target's own name, even where the
        # target lies above the link.
        target = self.folder / target
        link.symlink_to(os.path.join(os.path.relpath(target.parent, link.parent), target.name))

    def _function(self, place, windows):
        part, function = place.part, place.function
        above = (self.paths[place.above.address] if place.above else
                 f"sys/devices/pci{place.bridge.domain:04x}:{place.bridge.bus:02x}")
        path = self.paths[place.address] = f"{above}/{place.address}"
        node = -1 if place.bridge.node is None else place.bridge.node
        subsystem = part.subsystem  # the kernel finds a bridge's in its capability
        for name, value in [
            ("vendor", f"0x{part.vendor:04x}"), ("device", f"0x{part.device:04x}"),
            ("class", f"0x{part.code:06x}"), ("revision", f"0x{part.revision:02x}"),
            ("subsystem_vendor", f"0x{subsystem.vendor if subsystem else 0:04x}"),
            ("subsystem_device", f"0x{subsystem.device if subsystem else 0:04x}"),
            ("numa_node", node), ("irq", function.interrupt),
            ("resource", _resources(part, windows)), ("config", configuration(place, windows)),
        ]:
            self._file(f"{path}/{name}", value)
        if function.link and express_of(part):
            self._links_of(path, function.link)
        if function.driver:
            self._driver(path, place)
        if function.slot:
            self._file(f"sys/bus/pci/slots/{function.slot}/address", place.address[:-2])
        self._link(f"sys/bus/pci/devices/{place.address}", path)
        for device in function.devices:
            self._device(path, place, device)

    def _links_of(self, path, link):
        speed, width = link.could
        for name, value in [("current_link_speed", f"{link.speed:.1f} GT/s PCIe"),
                            ("max_link_speed", f"{speed:.1f} GT/s PCIe"),
                            ("current_link_width", link.width), ("max_link_width", width)]:
            self._file(f"{path}/{name}", value)

    def _driver(self, path, place):
        driver = f"sys/bus/pci/drivers/{place.function.driver}"
        (self.folder / driver).mkdir(parents=True, exist_ok=True)
        self._link(f"{path}/driver", driver)
        self._link(f"{driver}/{place.address}", path)

    def _device(self, path, place, device):
        if isinstance(device, Net):
            place_of = f"{path}/net/{device.name}"
            for name, value in [("address", device.mac), ("mtu", device.mtu), ("dev_port", 0),
                                ("operstate", "up"), ("type", 1)]:
                self._file(f"{place_of}/{name}", value)
            self._link(f"{place_of}/device", path)
            self._link(f"sys/class/net/{device.name}", place_of)
        elif isinstance(device, Rdma):
            self._rdma(path, device)
        elif isinstance(device, Disk):
            place_of = f"{path}/nvme/{device.name.split('n1')[0]}/{device.name}"
            self._file(f"{place_of}/size", device.sectors)
            self._file(f"{place_of}/dev", device.number)
            self._link(f"sys/class/block/{device.name}", place_of)

    def _rdma(self, path, device):
        folder = f"{path}/infiniband/{device.name}"
        for name, value in [("node_guid", device.guid), ("sys_image_guid", device.guid),
                            ("fw_ver", device.firmware), ("board_id", device.board),
                            ("node_type", "1: CA")]:
            self._file(f"{folder}/{name}", value)
        for number, port in enumerate(device.ports, 1):
            at = f"{folder}/ports/{number}"
            for name, value in [("state", port.state), ("phys_state", port.physical_state),
                                ("rate", port.rate), ("link_layer", port.link_layer),
                                ("lid", f"0x{port.lid:x}"), ("lid_mask_count", 0)]:
                self._file(f"{at}/{name}", value)
            for index, (gid, kind, net) in enumerate(port.gids):
                self._file(f"{at}/gids/{index}", gid)
                self._file(f"{at}/gid_attrs/types/{index}", kind)
                if net:
                    self._file(f"{at}/gid_attrs/ndevs/{index}", net)
        self._link(f"{folder}/device", path)
        self._link(f"sys/class/infiniband/{device.name}", folder)

    def _nodes(self):
        for node in self.machine.nodes:
            folder = f"sys/devices/system/node/node{node.number}"
            self._file(f"{folder}/cpulist", ranges_text(node.processors))
            self._file(f"{folder}/distance", " ".join(map(str, node.distances)))
            self._file(f"{folder}/meminfo",
                       f"Node {node.number} MemTotal:  {node.memory // 1024:12} kB")

    def _processors(self):
        machine = self.machine
        hypervisor = " hypervisor" if machine.hypervisor else ""
        count = sum(last - first + 1 for node in machine.nodes for first, last in node.processors)
        self._file("proc/cpuinfo", "".join(
            f"processor\t: {number}\nvendor_id\t: {machine.processor}\n"
            f"cpu family\t: {machine.family}\nmodel\t\t: {machine.model}\n"
            f"model name\t: {machine.processor_model}\n"
            f"flags\t\t: fpu vme sse2{hypervisor} lahf_lm\n\n" for number in range(count)))

    def _system(self):
        machine = self.machine
        for path, value in [
            ("sys/class/dmi/id/product_name", machine.product),
            ("sys/class/dmi/id/sys_vendor", machine.maker),
            ("sys/kernel/security/lockdown", "[none] integrity confidentiality"),
            ("proc/cmdline", "BOOT_IMAGE=/vmlinuz ro quiet"),
            ("proc/sys/kernel/osrelease", machine.kernel),
            ("proc/sys/kernel/random/boot_id", "6f8e9c1a-7d52-4c1e-9b1e-3a0d5b8c2f10"),
        ]:
            self._file(path, value)
        for folder in ["sys/class/iommu", "sys/class/infiniband", "sys/class/net"]:
            (self.folder / folder).mkdir(parents=True, exist_ok=True)
        if machine.driver_version:
            self._nvidia()

    def _nvidia(self):
        machine = self.machine
        kind = "NVIDIA UNIX Open Kernel Module for x86_64" if machine.open_driver else \
            "NVIDIA UNIX x86_64 Kernel Module"
        self._file("sys/module/nvidia/version", machine.driver_version)
        self._file("proc/driver/nvidia/version",
                   f"NVRM version: {kind}  {machine.driver_version}  Release Build")
        for place in machine.by_address():
            if place.function.driver == "nvidia":
                self._file(f"proc/driver/nvidia/gpus/{place.address}/information",
                           f"Model: \t\t {place.part.model}\n"
                           f"Bus Location: \t {place.address}")


def _resources(part, windows):
    lines = ["0x0000000000000000 0x0000000000000000 0x0000000000000000"] * 13
    for bar in part.bars:
        base = windows.bars[bar.number]
        kind = 0x14220c if bar.wide else 0x40200
        lines[bar.number] = f"0x{base:016x} 0x{base + bar.size - 1:016x} 0x{kind:016x}"
    if part.is_bridge:
        behind = [None, windows.narrow, windows.wide, None]
        kinds = [0x0101, 0x0200, 0x102201, 0]
        for range_behind, kind in zip(behind, kinds):
            start, end = range_behind or (0, 1)
            lines.append(f"0x{start:016x} 0x{end - 1:016x} 0x{kind if range_behind else 0:016x}")
    return "\n".join(lines)


def ranges_text(ranges):
    return ",".join(f"{first}-{last}" if last > first else f"{first}" for first, last in ranges)
