"""What `lstopo --whole-io machine.xml` writes with hwloc 2 (hwloc2.dtd)."""

from xml.sax.saxutils import quoteattr

from model import Disk, Net, OpenClGpu, Rdma

HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
"""


def text(machine, system=True):
    """Without `system`: what is known of the machine as a whole was taken out."""
    lines = _Writer(machine, system).lines()
    return HEAD + "".join(line + "\n" for line in lines) + "</topology>\n"


class _Writer:
    def __init__(self, machine, system):
        self.machine, self.system = machine, system
        self.object = 0
        self.processors = {node.number: processor_set(node.processors) for node in machine.nodes}

    def lines(self):
        machine = self.machine
        every = sum(self.processors.values())
        complete = every | processor_set(machine.offline_processors)
        nodes = sum(1 << node.number for node in machine.nodes)
        infos = [("DMIProductName", machine.product), ("DMISysVendor", machine.maker),
                 ("Backend", "Linux"), ("OSName", "Linux"), ("OSRelease", machine.kernel),
                 ("Architecture", "x86_64")]
        yield from self._element(1, {
            "type": "Machine", "os_index": 0, "cpuset": set_text(every),
            "complete_cpuset": set_text(complete), "allowed_cpuset": set_text(every),
            "nodeset": set_text(nodes), "complete_nodeset": set_text(nodes),
            "allowed_nodeset": set_text(nodes)}, infos if self.system else [], self._inside())
        if self.system and all(node.distances for node in machine.nodes):
            yield from self._distances()

    def _inside(self):
        for node in self.machine.nodes:
            yield from self._package(node)
        yield from self._bridges(2, None)

    def _package(self, node):
        processors = set_text(self.processors[node.number])
        sets = {"cpuset": processors, "complete_cpuset": processors,
                "nodeset": set_text(1 << node.number),
                "complete_nodeset": set_text(1 << node.number)}
        infos = [("CPUVendor", self.machine.processor),
                 ("CPUFamilyNumber", self.machine.family), ("CPUModelNumber", self.machine.model),
                 ("CPUModel", self.machine.processor_model)]
        yield from self._element(2, {"type": "Package", "os_index": node.number, **sets},
                                 infos if self.system else [], self._inside_package(node, sets))

    def _inside_package(self, node, sets):
        pages = [f'        <page_type size="4096" count="{node.memory // 4096}"/>',
                 '        <page_type size="2097152" count="0"/>']
        yield from self._element(3, {"type": "NUMANode", "os_index": node.number, **sets,
                                     "local_memory": node.memory}, [], pages, id_after=True)
        for first, last in node.processors:
            for number in range(first, last + 1):
                one = set_text(1 << number)
                yield from self._element(3, {
                    "type": "PU", "os_index": number, "cpuset": one, "complete_cpuset": one,
                    "nodeset": sets["nodeset"], "complete_nodeset": sets["nodeset"]}, [], [])
        yield from self._bridges(3, node.number)

    def _bridges(self, depth, node):
        for bridge in self.machine.bridges:
            if bridge.node != node:
                continue
            last = bridge.last_bus
            if last is None:
                last = max([bridge.bus, *(f.buses[1] for f in bridge.functions if f.buses)])
            yield from self._element(
                depth, {"type": "Bridge", "bridge_type": "0-1", "depth": 0,
                        "bridge_pci": f"{bridge.domain:04x}:[{bridge.bus:02x}-{last:02x}]"},
                [], self._below(depth + 1, bridge), id_after=True)

    def _below(self, depth, bridge):
        for place in self.machine.by_address():
            if place.bridge is bridge and place.above is None:
                yield from self._function(depth, place, 1)
        for device in bridge.devices:
            yield from self._device(depth, device)

    def _function(self, depth, place, level):
        part, function = place.part, place.function
        attributes = {"type": "PCIDev"}
        if function.buses:
            first, last = function.buses
            attributes = {"type": "Bridge", "bridge_type": "1-1", "depth": level,
                          "bridge_pci": f"{place.bridge.domain:04x}:[{first:02x}-{last:02x}]"}
        whose = part.subsystem
        attributes["pci_busid"] = place.address
        attributes["pci_type"] = "{:04x} [{:04x}:{:04x}] [{:04x}:{:04x}] {:02x}".format(
            part.code >> 8, part.vendor, part.device, whose.vendor if whose else 0,
            whose.device if whose else 0, part.revision)
        attributes["pci_link_speed"] = f"{bandwidth(function.link):.6f}"
        infos = [("PCISlot", function.slot), ("PCIVendor", part.maker), ("PCIDevice", part.name)]
        yield from self._element(depth, attributes, infos,
                                 self._inside_function(depth + 1, place, level), id_after=True)

    def _inside_function(self, depth, place, level):
        for child in self.machine.by_address():
            if child.above is not None and child.above.address == place.address:
                yield from self._function(depth, child, level + 1)
        for device in place.function.devices:
            yield from self._device(depth, device)

    def _device(self, depth, device):
        if isinstance(device, Disk):
            attributes = {"name": device.name, "subtype": "Disk", "osdev_type": 0}
            infos = [("Size", device.sectors // 2), ("SectorSize", 512),
                     ("LinuxDeviceID", device.number), ("Model", device.model),
                     ("Revision", device.revision)]
        elif isinstance(device, Net):
            attributes = {"name": device.name, "osdev_type": 2}
            infos = [("Address", device.mac)]
        elif isinstance(device, Rdma):
            attributes = {"name": device.name, "osdev_type": 3}
            infos = list(_rdma_infos(device))
        else:
            assert isinstance(device, OpenClGpu), device
            attributes = {"name": f"opencl0d{device.index}", "subtype": "OpenCL", "osdev_type": 5}
            infos = [("Backend", "OpenCL"), ("OpenCLDeviceType", "GPU"),
                     ("GPUVendor", "NVIDIA Corporation"), ("GPUModel", device.model),
                     ("OpenCLPlatformIndex", 0), ("OpenCLPlatformName", "NVIDIA CUDA"),
                     ("OpenCLPlatformDeviceIndex", device.index),
                     ("OpenCLComputeUnits", device.units),
                     ("OpenCLGlobalMemorySize", device.memory)]
        yield from self._element(depth, {"type": "OSDev", **attributes}, infos, [], id_after=True)

    def _element(self, depth, attributes, infos, inside, id_after=False):
        """hwloc numbers its objects; in some of them the number stands right behind the type."""
        self.object += 1
        pairs = [*attributes.items(), ("gp_index", self.object)]
        if id_after and attributes["type"] != "NUMANode":
            pairs.insert(1, pairs.pop())
        words = " ".join(f"{name}={quoteattr(str(value))}" for name, value in pairs)
        margin = "  " * depth
        content = [f"{margin}  <info name={quoteattr(name)} value={quoteattr(str(value))}/>"
                   for name, value in infos if value != ""]
        content += inside
        if content:
            yield f"{margin}<object {words}>"
            yield from content
            yield f"{margin}</object>"
        else:
            yield f"{margin}<object {words}/>"

    def _distances(self):
        nodes = self.machine.nodes
        indexes = "".join(f"{node.number} " for node in nodes)
        yield f'  <distances2 type="NUMANode" nbobjs="{len(nodes)}" kind="5" name="NUMALatency"' \
              ' indexing="os">'
        yield f'    <indexes length="{len(indexes)}">{indexes}</indexes>'
        for node in nodes:
            values = "".join(f"{distance} " for distance in node.distances)
            yield f'    <u64values length="{len(values)}">{values}</u64values>'
        yield "  </distances2>"


def _rdma_infos(device):
    if device.guid:
        yield "NodeGUID", device.guid
        yield "SysImageGUID", device.guid
    for number, port in enumerate(device.ports, 1):
        yield f"Port{number}State", port.state.split(":")[0]
        yield f"Port{number}LID", f"0x{port.lid:x}"
        yield f"Port{number}LMC", 0
        for index, gid in enumerate(port.gids):
            yield f"Port{number}GID{index}", gid[0]


def bandwidth(link):
    """In GB/s, as hwloc counts it: without what the encoding takes."""
    if link is None:
        return 0.0
    return link.speed * (0.8 if link.speed <= 5 else 128 / 130) * link.width / 8


def processor_set(ranges):
    return sum((1 << last + 1) - (1 << first) for first, last in ranges)


def set_text(members):
    """"0x0000ffff,0xffffffff"; words of zeros in the middle are left empty."""
    words = []
    while members or not words:
        words.insert(0, members & 0xffffffff)
        members >>= 32
    texts = [f"0x{word:08x}" if word or index == 0 else "" for index, word in enumerate(words)]
    if len(words) > 1 and words[-1] == 0:
        texts[-1] = "0x0"
    return ",".join(texts)
