"""An AWS p4d.24xlarge: a guest with eight A100 and four EFA devices, all on root buses, so that its
own tree says nothing about what is near what. The provider describes the same machine to NCCL: two
GPUs and a NIC behind each of four switches.

The facts are those of the topology in nixl's tests (ai-dynamo/nixl, Apache-2.0), and of the
provider's file in aws-ofi-nccl (topology/, Apache-2.0)."""

import parts
from described.aws import base_bus
from model import (Disk, Function, HostBridge, Link, Machine, Net, Node, OpenClGpu, Part, Rdma,
                   RdmaPort, Subsystem)

# The bus, its node, the number of its first slot, the two drives, and where Ethernet is.
BUSES = [(0x10, 0, 32, (1, 4), "00.0"), (0x20, 0, 64, (5, 7), "01.0"),
         (0x90, 1, 128, (2, 3), "01.0"), (0xa0, 1, 160, (6, 8), "01.0")]
PASSED_ON = Link(16, 16)  # a GPU's link is the host's; what the guest emulates has none
NODES = [Node(0, ((0, 23),), 602251575296, (10, 21)),
         Node(1, ((24, 47),), 602268844032, (21, 10))]


def bus_of(index):
    bus, node, slot, drives, wired = BUSES[index]

    def on(number, part, driver, link=None, devices=()):
        return Function(number, part, link=link, driver=driver, devices=devices,
                        slot=str(slot + int(number[:2], 16)))

    functions = [
        on(wired, parts.ENA, "ena",
           devices=(Net(f"ens{slot + int(wired[:2])}", f"0a:ff:d0:00:{bus:02x}:01", 9001),)),
        on("1b.0", parts.EFA, "efa", devices=(Rdma(f"rdmap{bus}s27", ports=(RdmaPort(
            rate="100 Gb/sec (4X EDR)", link_layer="Unspecified"),)),)),
        on("1c.0", parts.A100, "nvidia", PASSED_ON), on("1d.0", parts.A100, "nvidia", PASSED_ON)]
    functions += [on(f"1{letter}.0", parts.LOCAL_DISK, "nvme", devices=(
        Disk(f"nvme{drive}n1", "Amazon EC2 NVMe Instance Storage", 1835937500,
             f"259:{drive}", "0"),)) for letter, drive in zip("ef", drives)]
    # hwloc knew the GPUs' models, and not whose they are.
    models = tuple(OpenClGpu(2 * index + number, "NVIDIA A100-SXM4-40GB", 108, 41410944)
                   for number in range(2))
    return HostBridge(bus, functions, node, bus, devices=models)


def describe():
    bridges = [bus_of(index) for index in range(4)]
    return Machine("aws-p4d.24xl", NODES, [*bridges, base_bus(None)], product="p4d.24xlarge",
                   maker="Amazon EC2", processor="GenuineIntel", family=6, model=85,
                   processor_model="Intel(R) Xeon(R) Platinum 8275CL CPU @ 3.00GHz",
                   hypervisor=True, offline_processors=((48, 95),))


def as_provider_sees_it():
    made_up = Part(0xffff, 0xffff, 0x060400, "", subsystem=Subsystem(0xffff, 0xffff, ""))
    gen3 = Link(8, 16)
    bridges = []
    for index, (bus, node, *_) in enumerate(BUSES):
        below = [Function(number, part, link=gen3, domain=0) for number, part in
                 (("1c.0", parts.A100), ("1d.0", parts.A100), ("1b.0", parts.EFA))]
        switch = Function(f"{index + 1:02x}.0", made_up, (bus, bus), below, link=gen3)
        bridges.append(HostBridge(0xff, [switch], node, domain=0xffff))
    nodes = [Node(0, ((0, 23), (48, 71)), 0), Node(1, ((24, 47), (72, 95)), 0)]
    return Machine("aws-p4d.24xl", nodes, bridges, family=6, model=85)
