"""An Azure ND A100 v4 as its provider describes it to NCCL: four NUMA nodes, each with two GPUs and
two InfiniBand NICs behind a switch. Every device is in a PCI domain of its own.

The facts are those of the provider's file (Azure/azhpc-images, topology/, MIT)."""

from dataclasses import replace

import parts
from model import Function, HostBridge, Link, Machine, Node, Part

GEN4 = Link(16, 16)
# The domains of two GPUs and two NICs, by NUMA node.
GROUPS = [((0x0003, 0x0004), (0x0103, 0x0104)), ((0x0001, 0x0002), (0x0101, 0x0102)),
          ((0x000d, 0x000e), (0x0107, 0x0108)), ((0x000b, 0x000c), (0x0105, 0x0106))]


def as_provider_sees_it():
    made_up = Part(0xffff, 0xffff, 0x060400, "")
    nic = replace(parts.CONNECTX_7, code=0x020700)
    bridges = []
    for node, (gpus, nics) in enumerate(GROUPS):
        below = []
        for gpu_domain, nic_domain in zip(gpus, nics):
            below += [Function("00.0", parts.A100, link=GEN4, domain=gpu_domain),
                      Function("00.0", nic, link=GEN4, domain=nic_domain)]
        switch = Function(f"{node + 1:02x}.0", made_up, (0, 0), below, link=GEN4)
        bridges.append(HostBridge(0xff, [switch], node, domain=0xffff))
    nodes = [Node(number, ((24 * number, 24 * number + 23),), 0) for number in range(4)]
    return Machine("azure-ndv4", nodes, bridges, processor="AuthenticAMD", family=23, model=49)
