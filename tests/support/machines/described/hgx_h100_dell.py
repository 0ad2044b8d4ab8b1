"""A Dell server with an HGX H100 board: eight GPUs, each behind a switch that it shares with a
ConnectX-7 of its own, an NVMe drive and the switch's management endpoint; on the first switch of
each socket there is a ConnectX-6 Dx too. No port on the way between a GPU and its NIC redirects
anything. What does redirect is a switch that serves only the NVSwitches (0000:82), and the ports
of the chipset validate sources: neither is on any such way.

The facts are those of the text of lspci in gpud's tests (leptonai/gpud, pkg/pci/testdata,
Apache-2.0). What lspci does not tell (processors, driver, names of NICs) is made up."""

import parts
from model import Function, HostBridge, Link, Machine, Net, Node, Rdma, RdmaPort

FULL = Link(32, 16)
# The first bus of each group, its node, the slots of GPU and NIC, and who made its drive.
GROUPS = [(0x15, 0, 28, 38, "Micron"), (0x37, 0, 24, 39, "Micron"), (0x48, 0, 23, 37, "Intel"),
          (0x59, 0, 27, 36, "Intel"), (0x97, 1, 25, 32, "Intel"), (0xb7, 1, 21, 33, "Intel"),
          (0xc7, 1, 26, 34, "Intel"), (0xd7, 1, 22, 35, "Intel")]
WITH_CONNECTX_6 = {0x15: 40, 0x97: 31}  # the slot of it
# Rate, firmware and board.
CONNECTX_7 = "400 Gb/sec (4X NDR)", "28.39.1002", "MT_0000000838"
CONNECTX_6 = "100 Gb/sec (4X EDR)", "22.39.1002", "MT_0000000359"
BARE_BUSES = {0: (0x26, 0x6a, 0x6f, 0x74, 0x79), 1: (0xe7, 0xec, 0xf1, 0xf6)}


def peripherals():
    """What each of the processor's root buses begins with."""
    return [Function("00.0", parts.xeon_peripheral(0x09a2), payload=128, read_request=128,
                     relaxed=False),
            Function("00.1", parts.xeon_peripheral(0x09a4), payload=128, read_request=128,
                     relaxed=False),
            Function("00.2", parts.xeon_peripheral(0x09a3), payload=128, read_request=128,
                     relaxed=False),
            Function("00.4", parts.xeon_peripheral(0x0b23, 0x080700), payload=128,
                     read_request=128, relaxed=False, driver="pcieport")]


class Nics:
    """They are numbered as the kernel finds them: by address."""

    def __init__(self):
        self.count = 0

    def next(self, rate, firmware, board):
        """Network device and RDMA device of the next function."""
        number = self.count
        self.count += 1
        net = f"ens{number}np0"
        gids = ((f"fe80:0000:0000:0000:a288:c2ff:fe00:{number:04x}", "IB/RoCE v1", net),
                (f"0000:0000:0000:0000:0000:ffff:0a00:{number << 8 | 1:04x}", "RoCE v2", net))
        return (Net(net, f"a0:88:c2:00:00:{number:02x}", 9000),
                Rdma(f"mlx5_{number}", f"a088:c203:0000:{number:04x}", firmware, board,
                     (RdmaPort(rate=rate, gids=gids),)))


def group(bus, node, gpu_slot, nic_slot, drive, nics):
    down = bus + 2

    def port(number, below, link, slot=""):
        part = parts.pex_downstream(int(slot) if slot else -1)
        return Function(f"{number:02x}.0", part, (below, below), link=link, read_request=128,
                        driver="pcieport", slot=str(slot))

    def on(port, *functions):
        port.below = list(functions)
        return port

    disk = parts.MICRON_DISK if drive == "Micron" else parts.INTEL_DISK
    ports = [
        on(port(0, down + 1, Link(16, 4, 32, 4)),
           Function("00.0", disk, link=Link(16, 4), read_request=4096, driver="nvme")),
        on(port(1, down + 2, Link(32, 16, port=1), gpu_slot),
           Function("00.0", parts.H100, link=FULL, read_request=4096, driver="nvidia",
                    modules="nvidiafb, nouveau, nvidia_drm, nvidia", interrupt=17)),
        on(port(2, down + 3, Link(32, 16, port=2), nic_slot),
           Function("00.0", parts.CONNECTX_7, link=FULL, read_request=4096, driver="mlx5_core",
                    interrupt=18, devices=nics.next(*CONNECTX_7)))]
    last = down + 3
    if bus in WITH_CONNECTX_6:
        last += 1
        both = [Function(f"00.{number}", parts.CONNECTX_6_DX, link=Link(16, 16),
                         read_request=4096, driver="mlx5_core", interrupt=19,
                         devices=nics.next(*CONNECTX_6)) for number in range(2)]
        ports.append(on(port(3, last, Link(16, 16, 32, 16, port=3), WITH_CONNECTX_6[bus]), *both))
    last += 1
    ports.append(on(port(0x1f, last, Link(32, 16, port=31)),
                    Function("00.0", parts.PEX_MANAGEMENT, link=Link(32, 16, port=241),
                             read_request=4096, driver="mpt3sas")))
    switch = Function("00.0", parts.PEX_UPSTREAM, (down, last), ports,
                      link=Link(32, 16, port=200), read_request=128, driver="pcieport")
    root = Function("01.0", parts.XEON_ROOT_PORT, (bus + 1, last), [switch],
                    link=Link(32, 16, port=1), read_request=4096, relaxed=False,
                    driver="pcieport", interrupt=144)
    return HostBridge(bus, [*peripherals(), root], node, last)


def chipset():
    """Of the first socket: its own network ports, and the picture for the console."""
    wired = [Function(f"00.{number}", parts.BCM5720, link=Link(5, 1, 5, 2), relaxed=False,
                      driver="tg3", interrupt=16,
                      devices=(Net(f"eno{number + 1}", f"d0:46:0c:00:00:{number:02x}"),))
             for number in range(2)]
    picture = Function("00.0", parts.MATROX, driver="mgag200", interrupt=16)
    bridge = Function("00.0", parts.PLDA_BRIDGE, (3, 3), [picture], link=Link(5, 1, port=1),
                      payload=128)
    ports = [Function("0c.0", parts.chipset_port(0x1bbc), (1, 1), wired, driver="pcieport",
                      link=Link(5, 1, 8, 1, port=12), relaxed=False, access_control=0x01),
             Function("0e.0", parts.chipset_port(0x1bbe), (2, 3), [bridge], driver="pcieport",
                      link=Link(5, 1, 8, 1, port=14), relaxed=False, access_control=0x01,
                      payload=128)]
    return HostBridge(0x00, [*peripherals(), *ports], 0, 3)


def nvswitches():
    ports = [Function(f"{number:02x}.0", parts.PMC_DOWNSTREAM, (0x83 + number, 0x83 + number),
                      [Function("00.0", parts.NVSWITCH, link=Link(16, 2), read_request=4096,
                                driver="nvidia-nvswitch",
                                modules="nvidiafb, nouveau, nvidia_drm, nvidia")],
                      link=Link(16, 2, port=number + 1), read_request=128, relaxed=False,
                      driver="pcieport", access_control=0x1d)
             for number in range(4)]
    switch = Function("00.0", parts.PMC_UPSTREAM, (0x82, 0x86), ports, link=Link(16, 2),
                      read_request=128, relaxed=False, driver="pcieport")
    root = Function("01.0", parts.XEON_ROOT_PORT, (0x81, 0x86), [switch],
                    link=Link(16, 2, 16, 16, port=41), read_request=4096, relaxed=False,
                    driver="pcieport", interrupt=150)
    return HostBridge(0x80, [*peripherals(), root], 1, 0x86)


def describe():
    nics = Nics()
    bridges = [chipset(), nvswitches(), *(group(*each, nics) for each in GROUPS)]
    bridges += [HostBridge(bus, peripherals(), node, bus)
                for node, buses in BARE_BUSES.items() for bus in buses]
    return Machine(
        "hgx-h100-dell", nodes(), sorted(bridges, key=lambda bridge: bridge.bus),
        product="PowerEdge XE9680", maker="Dell Inc.",
        processor_model="Intel(R) Xeon(R) Platinum 8480+", driver_version="535.129.03",
        nvlinks=18)


def nodes():
    return [Node(0, ((0, 55), (112, 167)), 1056 << 30, (10, 21)),
            Node(1, ((56, 111), (168, 223)), 1056 << 30, (21, 10))]
