"""An AWS g5.48xlarge: a guest with eight A10G and one EFA device, all on one root bus that firmware
gives to no NUMA node.

The facts are those of the topology in nixl's tests (ai-dynamo/nixl, Apache-2.0)."""

import parts
from described.aws import base_bus
from model import Disk, Function, Link, Machine, Net, Node, OpenClGpu, Rdma, RdmaPort


def describe():
    models = [OpenClGpu(index, "NVIDIA A10G", 80, 23129728) for index in range(8)]
    more = [Function("05.0", parts.ENA, slot="5", driver="ena",
                     devices=(Net("ens5", "0a:ff:e0:00:00:01", 9001),)),
            Function("15.0", parts.EFA, slot="21", driver="efa",
                     devices=(Rdma("rdmap0s21", ports=(RdmaPort(
                         rate="100 Gb/sec (4X EDR)", link_layer="Unspecified"),)),))]
    more += [Function(f"{number:02x}.0", parts.A10G, link=Link(2.5, 8, 16, 8), driver="nvidia",
                      slot=str(number)) for number in range(0x16, 0x1e)]
    more += [Function(f"{number:02x}.0", parts.LOCAL_DISK, driver="nvme", slot=str(number),
                      devices=(Disk(f"nvme{number - 0x1d}n1", "Amazon EC2 NVMe Instance Storage",
                                    7421875000, f"259:{0x24 - number}", "0"),))
             for number in (0x1e, 0x1f)]
    # By the numbers that OpenCL gives, the third GPU is where the console's picture is.
    bus = base_bus(None, picture_devices=(models.pop(2),), more=more, devices=tuple(models))
    return Machine("aws-g5.48xl", [Node(0, ((0, 47), (96, 143)), 401461149696, (10, 32)),
                                   Node(1, ((48, 95), (144, 191)), 401570951168, (32, 10))],
                   [bus], product="g5.48xlarge", maker="Amazon EC2", processor="AuthenticAMD",
                   family=23, model=49, processor_model="AMD EPYC 7R32", hypervisor=True)
