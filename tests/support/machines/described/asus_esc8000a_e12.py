"""An ASUS ESC8000A-E12: two EPYC sockets, four RTX 6000 Ada at root ports of their own, two
dual-port ConnectX-7 and two NVMe cards with cascaded switches. The GPUs are idle: their links run
at 2.5 GT/s, and could do 16.

The facts are those of the texts in luigifcruz/stelline (hardware/, MIT). lspci -vvv was asked for a
few functions only, so it shows no bridge."""

import parts
from model import Function, HostBridge, Link, Machine, Net, Node, Rdma, RdmaPort

# `nvidia-smi topo -m` of that machine itself; NICs by their RDMA names.
NICS = ["mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"]
CELLS = ["X    NODE SYS  SYS  NODE NODE SYS  SYS", "NODE X    SYS  SYS  NODE NODE SYS  SYS",
         "SYS  SYS  X    NODE SYS  SYS  NODE NODE", "SYS  SYS  NODE X    SYS  SYS  NODE NODE",
         "NODE NODE SYS  SYS  X    PIX  SYS  SYS", "NODE NODE SYS  SYS  PIX  X    SYS  SYS",
         "SYS  SYS  NODE NODE SYS  SYS  X    PIX", "SYS  SYS  NODE NODE SYS  SYS  PIX  X"]
AFFINITY = [("0-31", 0), ("0-31", 0), ("32-63", 1), ("32-63", 1)]
# In the order in which lspci was asked for them.
VERBOSE = ["0000:01:00.0", "0000:41:00.0", "0000:c1:00.0", "0000:e1:00.0", "0000:21:00.0",
           "0000:81:00.0", "0000:71:00.0", "0000:b1:00.0"]

INSIDE = {"00.0": (0x14ac, 0x130000), "00.1": (0x14dc, 0x130000), "00.4": (0x14c9, 0x0c0330),
          "00.5": (0x14ca, 0x108000, "Genoa CCP/PSP 4.0 Device")}
DEVICES_18 = [0x14ad, 0x14ae, 0x14af, 0x14b0, 0x14b1, 0x14b2, 0x14b3, 0x14b4]


def root_port(number, buses, below, link=Link(16, 16)):
    return Function(number, parts.EPYC_ROOT_PORT, buses, below, link=link, relaxed=False,
                    driver="pcieport")


def gpu(number, bus, slot="", interrupt=850):
    link = Link(2.5, 16, 16, 16)
    return root_port(number, (bus, bus), [
        Function("00.0", parts.RTX_6000_ADA, link=link, driver="nvidia", slot=slot,
                 modules="nvidiafb, nouveau, nvidia_drm, nvidia", interrupt=interrupt),
        Function("00.1", parts.ADA_AUDIO, link=link, driver="snd_hda_intel")], link)


def nic(number, bus, first):
    both = []
    for index in range(2):
        name = f"enp{bus}s0f{index}np{index}"
        mac = f"9c:63:c0:00:{bus:02x}:{index:02x}"
        gids = ((f"fe80:0000:0000:0000:9e63:c0ff:fe00:{bus:02x}{index:02x}", "IB/RoCE v1", name),
                (f"0000:0000:0000:0000:0000:ffff:c0a8:{bus:02x}{index + 1:02x}", "RoCE v2", name))
        both.append(Function(
            f"00.{index}", parts.CONNECTX_7_DUAL, link=Link(32, 16), payload=512,
            driver="mlx5_core", interrupt=55 + index,
            devices=(Net(name, mac, 9000),
                     Rdma(f"mlx5_{first + index}", f"9c63:c003:00{bus:02x}:000{index}",
                          "28.41.1000", "MT_0000000834",
                          (RdmaPort(rate="200 Gb/sec (4X HDR)", gids=gids),)))))
    return root_port(number, (bus, bus), both, Link(32, 16))


def drives(first):
    """A card with eight drives and a RAID controller, behind two layers of switches."""
    disk = parts.samsung_disk(0xa80c, "NVMe SSD Controller S4LV008[Pascal]")

    def down(number, bus, below, last=None):
        return Function(number, parts.PLX_DOWNSTREAM, (bus, last or bus), below,
                        link=Link(16, 4), read_request=128, driver="pcieport")

    def up(bus, last, below):
        return Function("00.0", parts.PLX_UPSTREAM, (bus, last), below, link=Link(16, 16),
                        read_request=128, driver="pcieport")

    def row(bus, numbers):
        return up(bus + 1, bus + 5, [
            down(number, bus + 2 + index,
                 [Function("00.0", disk, link=Link(16, 4), driver="nvme")])
            for index, number in enumerate(numbers)])

    raid = Function("00.0", parts.HIGHPOINT_RAID, link=Link(5, 1, 5, 2), interrupt=255)
    others = up(first + 15, first + 17, [down("14.0", first + 16, [raid]),
                                         down("15.0", first + 17, [])])
    inner = up(first + 1, first + 18, [
        down("00.0", first + 2, [row(first + 2, ["10.0", "14.0", "18.0", "1c.0"])], first + 7),
        down("04.0", first + 8, [row(first + 8, ["00.0", "04.0", "08.0", "0c.0"])], first + 13),
        down("0c.0", first + 14, [others], first + 17),
        down("1c.0", first + 18, [])])
    return root_port("01.1", (first, first + 18), [inner])


def host_bridge(bus, ports, others=("00.0", "00.1")):
    """Each root bus of a Genoa: its root complex and IOMMU, dummies, ports, internal devices."""
    fixed = [Function("00.0", parts.epyc(0x14a4)), Function("00.3", parts.epyc(0x14a6, 0x080700))]
    dummies = [Function(f"{device:02x}.0", parts.epyc(0x149f))
               for device in (1, 2, 3, 4, 5, 7)]
    inside = Function("07.1", parts.EPYC_ROOT_PORT, None, [], link=Link(32, 16), relaxed=False,
                      driver="pcieport")
    last = max([bus, *(port.buses[1] for port in ports)])
    inside.buses = (last + 1, last + 1)
    inside.below = [Function(number, parts.epyc(*INSIDE[number]))
                    for number in others]
    functions = sorted([*fixed, *dummies, *ports, inside], key=lambda each: each.number)
    return HostBridge(bus, functions, 0 if bus < 0x80 else 1, last + 1)


def describe():
    first = host_bridge(0x00, [
        gpu("01.1", 0x01, "3", 852),
        root_port("05.1", (2, 2), [Function(
            "00.0", parts.samsung_disk(0xa808, "NVMe SSD Controller SM981/PM981/PM983"),
            link=Link(8, 4), driver="nvme")], Link(8, 4, 16, 4))],
        ("00.0", "00.1", "00.4", "00.5"))
    first.functions += [Function("14.0", parts.epyc(0x790b, 0x0c0500, "FCH SMBus Controller")),
                        Function("14.3", parts.epyc(0x790e, 0x060100, "FCH LPC Bridge"))]
    first.functions += [Function(f"{device:02x}.{number}", parts.epyc(DEVICES_18[number]))
                        for device in (0x18, 0x19) for number in range(8)]
    picture = Function("00.0", parts.ASPEED_BRIDGE, (0x75, 0x75),
                       [Function("00.0", parts.ASPEED_VGA, driver="ast")],
                       link=Link(2.5, 1, 5, 1), payload=128)
    wired = [Function(f"00.{index}", parts.X710, link=Link(8, 4), driver="i40e",
                      devices=(Net(f"eno{index + 1}", f"08:bf:b8:00:00:{index:02x}"),))
             for index in range(2)]
    raid = Function("00.0", parts.HIGHPOINT_RAID, link=Link(5, 1, 5, 2))
    bridges = [
        first, host_bridge(0x20, [nic("03.1", 0x21, 0)]),
        host_bridge(0x40, [gpu("01.1", 0x41, "2", 851)]),
        host_bridge(0x60, [drives(0x61), root_port("05.2", (0x74, 0x75), [picture],
                                                   Link(2.5, 1, 16, 1))], ("00.0", "00.1", "00.4")),
        host_bridge(0x80, [nic("01.1", 0x81, 2), root_port("05.1", (0x82, 0x83), wired,
                                                           Link(8, 4, 16, 4))],
                    ("00.0", "00.1", "00.4", "00.5")),
        host_bridge(0xa0, [drives(0xa1)]),
        host_bridge(0xc0, [gpu("01.1", 0xc1, "", 854), root_port("03.2", (0xc2, 0xc2), []),
                           root_port("03.3", (0xc3, 0xc3), [])]),
        host_bridge(0xe0, [gpu("01.1", 0xe1, "", 853), root_port(
            "05.2", (0xe2, 0xe2), [raid], Link(5, 1, 16, 4))], ("00.0", "00.1", "00.4"))]
    nodes = [Node(0, ((0, 31),), 193129 << 20, (10, 32), 186031 << 20),
             Node(1, ((32, 63),), 193477 << 20, (32, 10), 186364 << 20)]
    return Machine("asus-esc8000a-e12", nodes, bridges, product="ESC8000A-E12",
                   maker="ASUSTeK COMPUTER INC.", processor="AuthenticAMD", family=25, model=17,
                   processor_model="AMD EPYC 9334 32-Core Processor",
                   driver_version="560.35.03")
