"""A topology in NCCL's own format (NCCL, src/graph/xml.cc): as a provider writes one for
NCCL_TOPO_FILE, with switches under made-up addresses; and as NCCL itself writes it to
NCCL_TOPO_DUMP_FILE, with GPUs, NVLink and network devices."""

from formats.hwloc import processor_set
from model import Rdma

NVSWITCH = "0x068000"


def provider_text(machine, numbers=True):
    """Every function as the description has it; without `numbers` no vendors and devices."""

    def lines(place, depth):
        attributes = _attributes(place, numbers, "{:g} GT/s")
        below = [child for child in machine.places() if child.above == place]
        return _element(depth, "pci", attributes, [
            line for child in below for line in lines(child, depth + 1)])

    return _system(machine, lambda node: [
        line for place in machine.places()
        if place.bridge.node == node.number and place.above is None for line in lines(place, 2)])


def dump_text(machine):
    """NCCL climbs from each GPU and NIC by two levels at a time, so that of a switch only the port
    that faces the processor is there, and no root port."""
    places = {place.address: place for place in machine.by_address()}
    devices = [place for place in places.values() if _is_gpu(place) or _rdma_of(place)]
    below = {}  # the address of what is above, or the node's number: addresses
    for device in devices:
        place = device
        while place is not None:
            above = place.above.above if place.above else None
            key = above.address if above else place.bridge.node
            if place.address in below.setdefault(key, []):
                break
            below[key].append(place.address)
            place = above
    order = {"gpu": 0, "net": 0}

    def lines(address, depth):
        place = places[address]
        inside = [line for child in below.get(address, []) for line in lines(child, depth + 1)]
        if _is_gpu(place):
            inside += _gpu(machine, order, depth + 1)
        inside += _nic(_rdma_of(place), order, depth + 1)
        return _element(depth, "pci", _attributes(place, True, "{:.1f} GT/s PCIe"), inside)

    return _system(machine, lambda node: [
        line for address in below.get(node.number, []) for line in lines(address, 2)])


def _system(machine, inside):
    processors = 1 + max(last for node in machine.nodes for _, last in node.processors)
    lines = ['<system version="1">']
    for node in machine.nodes:
        members = processor_set(node.processors)
        affinity = ",".join(f"{members >> 32 * word & 0xffffffff:08x}"
                            for word in reversed(range((processors + 31) // 32)))
        attributes = {"numaid": node.number, "affinity": affinity, "arch": "x86_64",
                      "vendor": machine.processor, "familyid": machine.family,
                      "modelid": machine.model}
        lines += _element(1, "cpu", attributes, inside(node))
    return "\n".join([*lines, "</system>", ""])


def _element(depth, name, attributes, inside=()):
    margin = "  " * depth
    words = " ".join(f'{key}="{value}"' for key, value in attributes.items())
    if not inside:
        return [f"{margin}<{name} {words}/>"]
    return [f"{margin}<{name} {words}>" if words else f"{margin}<{name}>", *inside,
            f"{margin}</{name}>"]


def _attributes(place, numbers, speed):
    part, link = place.part, place.function.link
    attributes = {"busid": place.address, "class": f"0x{part.code:06x}"}
    if numbers:
        whose = part.subsystem
        attributes.update({
            "vendor": f"0x{part.vendor:04x}", "device": f"0x{part.device:04x}",
            "subsystem_vendor": f"0x{whose.vendor if whose else 0:04x}",
            "subsystem_device": f"0x{whose.device if whose else 0:04x}"})
    attributes["link_speed"] = speed.format(link.could[0])
    attributes["link_width"] = link.could[1]
    return attributes


def _gpu(machine, order, depth):
    number = order["gpu"]
    order["gpu"] += 1
    links = [] if not machine.nvlinks else _element(depth + 1, "nvlink", {
        "target": "fffffff:ffff:ff", "count": machine.nvlinks, "tclass": NVSWITCH})
    return _element(depth, "gpu", {"dev": number, "sm": machine.gpu_architecture, "rank": number,
                                   "gdr": 1}, links)


def _nic(rdma, order, depth):
    nets = []
    for device in rdma:
        for number, port in enumerate(device.ports, 1):
            speed = int(port.rate.split()[0]) * 1000
            nets += _element(depth + 1, "net", {
                "name": device.name, "dev": order["net"], "speed": speed, "port": number,
                "latency": "0.000000", "guid": "0x" + device.guid.replace(":", ""),
                "maxconn": 131072, "gdr": 1})
            order["net"] += 1
    return _element(depth, "nic", {}, nets) if nets else []


def _is_gpu(place):
    return place.part.vendor == 0x10de and place.part.code >> 16 == 0x03


def _rdma_of(place):
    return [device for device in place.function.devices if isinstance(device, Rdma)]
