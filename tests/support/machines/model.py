"""What a machine is made of. A description says each fact once, in words that belong to no format;
the writers in formats/ turn it into what each program would print of that machine.

    gpu = Function("00.0", parts.H100, link=Link(32, 16), driver="nvidia")
    port = Function("01.0", parts.ROOT_PORT, buses=(0x19, 0x19), below=[gpu])
    Machine("example", bridges=[HostBridge(0x15, node=0, functions=[port])], ...)
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Subsystem:
    vendor: int
    device: int
    maker: str
    name: str = ""  # empty: pci.ids does not know it


@dataclass(frozen=True)
class Bar:
    number: int
    size: int  # in bytes
    wide: bool = True  # 64 bits, prefetchable; otherwise 32 bits


@dataclass(frozen=True)
class Part:
    """A chip or card, whichever machine it is in."""

    vendor: int
    device: int
    code: int  # class, subclass and programming interface: 0x030200
    maker: str
    name: str = ""  # empty: pci.ids does not know it, and programs print the number
    model: str = ""  # what NVIDIA's driver calls a GPU
    revision: int = 0
    subsystem: Subsystem | None = None
    capabilities: tuple = ()  # in the order of the function's lists
    bars: tuple = ()

    @property
    def is_bridge(self):
        return self.code >> 8 == 0x0604


@dataclass(frozen=True)
class Link:
    """What a link runs at, and the most that this end of it could do."""

    speed: float  # GT/s
    width: int
    most_speed: float = 0
    most_width: int = 0
    port: int = 0

    @property
    def could(self):
        return self.most_speed or self.speed, self.most_width or self.width


@dataclass(frozen=True)
class Net:
    name: str
    mac: str
    mtu: int = 1500


@dataclass(frozen=True)
class RdmaPort:
    state: str = "4: ACTIVE"
    physical_state: str = "5: LinkUp"
    rate: str = "400 Gb/sec (4X NDR)"
    link_layer: str = "Ethernet"
    lid: int = 0
    gids: tuple = ()  # (text, type, network device) each


@dataclass(frozen=True)
class Rdma:
    name: str
    guid: str = ""  # "0c42:a103:0011:0001"
    firmware: str = ""
    board: str = ""
    ports: tuple = ()


@dataclass(frozen=True)
class Disk:
    name: str
    model: str
    sectors: int
    number: str  # "259:0"
    revision: str = "1.0"


@dataclass(frozen=True)
class OpenClGpu:
    index: int
    model: str
    units: int
    memory: int  # KiB


@dataclass
class Function:
    number: str  # "01.0": device and function on its bus
    part: Part
    buses: tuple | None = None  # a bridge's first and last bus below it
    below: list = field(default_factory=list)
    link: Link | None = None
    payload: int = 256  # what the settings are, in bytes
    read_request: int = 512
    relaxed: bool = True
    access_control: int = 0  # the control register, where the part has access control
    driver: str = ""
    modules: str = ""  # as lspci lists them; empty: the driver's name
    slot: str = ""
    interrupt: int = 0
    domain: int | None = None  # where it is another one than its host bridge's
    devices: tuple = ()  # what the operating system makes of it: Net, Rdma, Disk, OpenClGpu


@dataclass
class HostBridge:
    bus: int
    functions: list
    node: int | None = None  # the NUMA node; None: firmware does not tell
    last_bus: int | None = None
    domain: int = 0
    devices: tuple = ()  # what hwloc could not tell a function of


@dataclass(frozen=True)
class Node:
    number: int
    processors: tuple  # ranges, each with its ends: ((0, 47), (96, 143))
    memory: int  # bytes
    distances: tuple = ()
    free: int = 0


@dataclass
class Machine:
    name: str
    nodes: list
    bridges: list
    product: str = ""
    maker: str = ""
    processor: str = "GenuineIntel"
    processor_model: str = ""
    family: int = 6
    model: int = 143
    hypervisor: bool = False
    kernel: str = "6.8.0-45-generic"
    driver_version: str = ""  # of NVIDIA's kernel module
    open_driver: bool = True
    nvlinks: int = 0  # of each GPU to the NVSwitches
    gpu_architecture: int = 90  # the compute capability, times ten
    offline_processors: tuple = ()

    def places(self):
        """Every function with where it is, parents first."""
        for bridge in self.bridges:
            for function in bridge.functions:
                yield from _places(function, bridge, bridge.bus, None)

    def by_address(self):
        return sorted(self.places(), key=lambda place: place.address)


@dataclass
class Place:
    address: str
    function: Function
    bridge: HostBridge
    above: Place | None

    @property
    def part(self):
        return self.function.part

    @property
    def bus(self):
        return int(self.address[5:7], 16)

    @property
    def capabilities(self):
        """What a hypervisor emulates has no link, and no PCI Express capability then."""
        return [each for each in self.part.capabilities
                if self.function.link or not getattr(each, "has_link", False)]


def _places(function, bridge, bus, above):
    domain = bridge.domain if function.domain is None else function.domain
    place = Place(f"{domain:04x}:{bus:02x}:{function.number}", function, bridge, above)
    yield place
    for child in function.below:
        yield from _places(child, bridge, function.buses[0], place)
