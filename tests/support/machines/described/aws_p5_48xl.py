"""An AWS p5.48xlarge: a guest that sees its switches. Each of eight groups has a GPU, four EFA
devices and a drive below one of them.

The facts are those of the topology in nixl's tests (ai-dynamo/nixl,
test/unit/utils/libfabric/topo, Apache-2.0)."""

import parts
from described.aws import base_bus
from formats import express
from model import Disk, Function, HostBridge, Link, Machine, Net, Node, OpenClGpu, Rdma, RdmaPort

NARROW, WIDE = Link(8, 16), Link(32, 16)
FIRST_BUSES = [0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb]
ROOT_SLOTS = [64, 96, 128, 160, 192, 224, 256, 288]
DRIVES = [1, 4, 6, 8, 2, 3, 5, 7]  # as the kernel numbered them


def group(index):
    first = FIRST_BUSES[index]
    node = 0 if index < 4 else 1
    last = first + 0x10

    def on(number, bus, part, link, devices, driver):
        below = Function("00.0", part, link=link, driver=driver, slot=f"{bus + 3}-1",
                         devices=devices)
        return Function(number, parts.amazon_port(express.DOWNSTREAM), (bus, bus), [below],
                        link=link, driver="pcieport")

    # In the fifth group the ports for Ethernet are shifted by one.
    shift = 1 if index == 4 else 0
    ports = []
    for number in range(4):
        bus = first + 3 + number + shift
        ports.append(on(f"00.{number + shift}", bus, parts.ENA, NARROW,
                        (Net(f"enp{bus}s0", f"0a:ff:c0:00:{bus:02x}:01", 9001),), "ena"))
    for number in range(4):
        bus = first + 0xb + number
        ports.append(on(f"01.{number}", bus, parts.EFA_1, NARROW,
                        (Rdma(f"rdmap{bus}s0", ports=(RdmaPort(
                            rate="100 Gb/sec (4X EDR)", link_layer="Unspecified"),)),), "efa"))
    ports.append(on("01.4", first + 0xf, parts.H100, WIDE,
                    (OpenClGpu(index, "NVIDIA H100 80GB HBM3", 132, 83024896),), "nvidia"))
    ports.append(on("01.5", last, parts.LOCAL_DISK, NARROW,
                    (Disk(f"nvme{DRIVES[index]}n1", "Amazon EC2 NVMe Instance Storage",
                          7421875000, f"259:{DRIVES[index] + 1}", "0"),), "nvme"))
    switch = Function("00.0", parts.amazon_port(express.UPSTREAM), (first + 2, last), ports,
                      link=NARROW, driver="pcieport", slot=f"{index + 1}-1")
    root = Function("00.0", parts.amazon_port(express.ROOT_PORT), (first + 1, last), [switch],
                    link=NARROW, driver="pcieport", slot=str(ROOT_SLOTS[index]))
    return HostBridge(first, [root], node, last)


def describe():
    nodes = [Node(0, ((0, 47),), 1073702535168, (10, 21)),
             Node(1, ((48, 95),), 1073722691584, (21, 10))]
    bridges = [base_bus(0, NARROW), *(group(index) for index in range(8))]
    return Machine("aws-p5.48xl", nodes, bridges, product="p5.48xlarge", maker="Amazon EC2",
                   processor="AuthenticAMD", family=25, model=1,
                   processor_model="AMD EPYC 7R13 Processor", hypervisor=True,
                   offline_processors=((96, 191),))
