"""Chips and cards: numbers and names from pci.ids, offsets of their capabilities as they are on
the real ones."""

from dataclasses import replace

from formats import express
from formats.capabilities import (AccessControl, AlternativeRouting, BridgeSubsystem,
                                  ErrorReporting, MsiX, PowerManagement, ResizableBars,
                                  SecondaryExpress, SerialNumber)
from formats.express import Express
from model import Bar, Part, Subsystem

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30

AMD = dict(vendor=0x1022, maker="Advanced Micro Devices, Inc. [AMD]")
AMAZON = dict(vendor=0x1d0f, maker="Amazon.com, Inc.")
ASPEED = dict(vendor=0x1a03, maker="ASPEED Technology, Inc.")
BROADCOM = dict(vendor=0x1000, maker="Broadcom / LSI")
INTEL = dict(vendor=0x8086, maker="Intel Corporation")
MELLANOX = dict(vendor=0x15b3, maker="Mellanox Technologies")
NVIDIA = dict(vendor=0x10de, maker="NVIDIA Corporation")
SAMSUNG = dict(vendor=0x144d, maker="Samsung Electronics Co Ltd")
HIGHPOINT = dict(vendor=0x1103, maker="HighPoint Technologies, Inc.")


def of_dell(device, name=""):
    return Subsystem(0x1028, device, "Dell", name)


# What access control a port is able to do.
ROOT_PORT_ACS, SWITCH_ACS, CHIPSET_ACS, EVERY_ACS = 0x1f, 0x5f, 0x13, 0x7f


# GPUs

H100 = Part(**NVIDIA, model="NVIDIA H100 80GB HBM3",
            device=0x2330, code=0x030200, revision=0xa1,
            subsystem=Subsystem(0x10de, 0x16c1, "NVIDIA Corporation"),
            bars=(Bar(0, 16 * MIB), Bar(2, 128 * GIB), Bar(4, 32 * MIB)),
            capabilities=(PowerManagement(0x40), Express(0x60, express.ENDPOINT, 256),
                          MsiX(0xb0, 9), SecondaryExpress(0x100),
                          ResizableBars(0x134, ((2, 6, 17, 17),)), ErrorReporting(0x1b8, 2),
                          AlternativeRouting(0x248), SerialNumber(0x2f0)))
A100 = Part(**NVIDIA, model="NVIDIA A100-SXM4-40GB",
            device=0x20b0, code=0x030200, revision=0xa1, name="GA100 [A100 SXM4 40GB]",
            subsystem=Subsystem(0x10de, 0x134f, "NVIDIA Corporation"),
            bars=(Bar(0, 16 * MIB, wide=False), Bar(1, 64 * GIB), Bar(3, 32 * MIB)),
            capabilities=(PowerManagement(0x60), Express(0x78, express.ENDPOINT, 256),
                          ErrorReporting(0x100, 2)))
A10G = Part(**NVIDIA, model="NVIDIA A10G",
            device=0x2237, code=0x030200, revision=0xa1, name="GA102GL [A10G]",
            subsystem=Subsystem(0x10de, 0x152f, "NVIDIA Corporation"),
            bars=(Bar(0, 16 * MIB, wide=False), Bar(1, 32 * GIB), Bar(3, 32 * MIB)),
            capabilities=(PowerManagement(0x60), Express(0x78, express.ENDPOINT, 256),
                          ErrorReporting(0x100, 2)))
RTX_6000_ADA = Part(**NVIDIA, model="NVIDIA RTX 6000 Ada Generation",
                    device=0x26b1, code=0x030000, revision=0xa1,
                    name="AD102GL [RTX 6000 Ada Generation]",
                    subsystem=Subsystem(0x10de, 0x16a1, "NVIDIA Corporation",
                                        "AD102GL [RTX 6000 Ada Generation]"),
                    bars=(Bar(0, 16 * MIB, wide=False), Bar(1, 64 * GIB), Bar(3, 32 * MIB)),
                    capabilities=(PowerManagement(0x60), Express(0x78, express.LEGACY, 256),
                                  SecondaryExpress(0x100), ErrorReporting(0x420, 2),
                                  ResizableBars(0xbb0, ((0, 4, 4, 4), (1, 6, 16, 16),
                                                        (3, 5, 5, 5)))))
ADA_AUDIO = Part(**NVIDIA, device=0x22ba, code=0x040300, revision=0xa1,
                 name="AD102 High Definition Audio Controller",
                 subsystem=RTX_6000_ADA.subsystem, bars=(Bar(0, 16 * KIB, wide=False),),
                 capabilities=(PowerManagement(0x60), Express(0x78, express.ENDPOINT, 256),
                               ErrorReporting(0x100, 2)))
NVSWITCH = Part(**NVIDIA, device=0x22a3, code=0x068000, revision=0xa1,
                subsystem=Subsystem(0x10de, 0x1796, "NVIDIA Corporation"),
                bars=(Bar(0, 32 * MIB),),
                capabilities=(PowerManagement(0x40), Express(0x60, express.ENDPOINT, 256),
                              SecondaryExpress(0x100), ErrorReporting(0x1b8, 2)))

# NICs

CONNECTX_7 = Part(**MELLANOX, device=0x1021, code=0x020000, name="MT2910 Family [ConnectX-7]",
                  subsystem=Subsystem(0x15b3, 0x0041, "Mellanox Technologies",
                                      "MT2910 Family [ConnectX-7]"),
                  bars=(Bar(0, 32 * MIB),),
                  capabilities=(Express(0x60, express.ENDPOINT), MsiX(0x9c),
                                PowerManagement(0x40), ErrorReporting(0x100),
                                AlternativeRouting(0x150), SecondaryExpress(0x1c0)))
# Between the functions of one card nothing can be redirected: the capability is there and empty.
CONNECTX_7_DUAL = replace(CONNECTX_7, capabilities=(*CONNECTX_7.capabilities,
                                                    AccessControl(0x230, 0)))
CONNECTX_6_DX = Part(**MELLANOX, device=0x101d, code=0x020000,
                     name="MT2892 Family [ConnectX-6 Dx]",
                     subsystem=Subsystem(0x15b3, 0x0016, "Mellanox Technologies",
                                         "MT2892 Family [ConnectX-6 Dx]"),
                     bars=(Bar(0, 32 * MIB),),
                     capabilities=(Express(0x60, express.ENDPOINT), MsiX(0x9c),
                                   PowerManagement(0x40), ErrorReporting(0x100),
                                   AlternativeRouting(0x150), AccessControl(0x230, 0)))
BCM5720 = Part(vendor=0x14e4, maker="Broadcom Inc. and subsidiaries", device=0x165f,
               code=0x020000, name="NetXtreme BCM5720 Gigabit Ethernet PCIe",
               subsystem=of_dell(0x0a6b, "NetXtreme BCM5720 Gigabit Ethernet PCIe"),
               bars=(Bar(0, 64 * KIB), Bar(2, 64 * KIB), Bar(4, 64 * KIB)),
               capabilities=(PowerManagement(0x48), MsiX(0xa0, 17),
                             Express(0xac, express.ENDPOINT, 256, extended_tags=False),
                             ErrorReporting(0x100), SerialNumber(0x13c)))
X710 = Part(**INTEL, device=0x15ff, code=0x020000, revision=0x02,
            name="Ethernet Controller X710 for 10GBASE-T",
            subsystem=Subsystem(0x1043, 0x87f5, "ASUSTeK Computer Inc."),
            bars=(Bar(0, 16 * MIB), Bar(3, 32 * KIB)),
            capabilities=(PowerManagement(0x40), MsiX(0x70, 129),
                          Express(0xa0, express.ENDPOINT, 2048), ErrorReporting(0x100, 2)))
ENA = Part(**AMAZON, device=0xec20, code=0x020000, name="Elastic Network Adapter (ENA)",
           subsystem=Subsystem(0x1d0f, 0xec20, "Amazon.com, Inc.",
                               "Elastic Network Adapter (ENA)"),
           bars=(Bar(0, 16 * KIB, wide=False),),
           capabilities=(Express(0x70, express.ENDPOINT, 128), MsiX(0xb0, 9)))
EFA = Part(**AMAZON, device=0xefa0, code=0x020000, name="Elastic Fabric Adapter (EFA)",
           subsystem=Subsystem(0x1d0f, 0xefa0, "Amazon.com, Inc.",
                               "Elastic Fabric Adapter (EFA)"),
           bars=(Bar(0, 16 * KIB, wide=False), Bar(2, 1 * MIB)),
           capabilities=(Express(0x70, express.ENDPOINT, 256), MsiX(0xb0, 9)))
EFA_1 = replace(EFA, device=0xefa1, subsystem=replace(EFA.subsystem, device=0xefa1))

# Switches, root ports and bridges

PEX_UPSTREAM = Part(**BROADCOM, device=0xc030, code=0x060400, revision=0xb0,
                    name="PEX890xx PCIe Gen 5 Switch", subsystem=of_dell(0x224b),
                    capabilities=(PowerManagement(0x40),
                                  Express(0x68, express.UPSTREAM, 2048, extended_tags=False),
                                  BridgeSubsystem(0xb0), SerialNumber(0x100),
                                  ErrorReporting(0x1f0)))


def pex_downstream(slot=-1):
    return replace(PEX_UPSTREAM, capabilities=(
        PowerManagement(0x40),
        Express(0x68, express.DOWNSTREAM, 2048, slot=slot, extended_tags=False),
        BridgeSubsystem(0xb0), SerialNumber(0x100), AccessControl(0x170, SWITCH_ACS),
        ErrorReporting(0x1f0)))


PEX_MANAGEMENT = Part(**BROADCOM, device=0x02b2, code=0x010700, revision=0xb0,
                      name="PCIe Switch management endpoint",
                      subsystem=of_dell(0x2251, "PCIe Switch management endpoint"),
                      bars=(Bar(0, 16 * KIB),),
                      capabilities=(PowerManagement(0x40), Express(0x68, express.ENDPOINT, 2048),
                                    MsiX(0xa4, 1), SerialNumber(0x100), ErrorReporting(0x1f0)))
XEON_ROOT_PORT = Part(**INTEL, device=0x352a, code=0x060400, revision=0x04,
                      subsystem=Subsystem(0x8086, 0, "Intel Corporation"),
                      bars=(Bar(0, 128 * KIB),),
                      capabilities=(Express(0x40, express.ROOT_PORT), PowerManagement(0xa0),
                                    BridgeSubsystem(0x94), ErrorReporting(0x100, 2),
                                    AccessControl(0x220, ROOT_PORT_ACS),
                                    SecondaryExpress(0xa30)))


def chipset_port(device):
    return Part(**INTEL, device=device, code=0x060400, revision=0x11, subsystem=of_dell(0x0b73),
                bars=(Bar(0, 128 * KIB),),
                capabilities=(Express(0x40, express.ROOT_PORT, 256), PowerManagement(0xa0),
                              BridgeSubsystem(0x98), ErrorReporting(0x100),
                              AccessControl(0x148, CHIPSET_ACS)))


PLDA_BRIDGE = Part(vendor=0x1556, maker="PLDA", device=0xbe00, code=0x060400, revision=0x02,
                   name="PCI Express Bridge",
                   capabilities=(PowerManagement(0x78),
                                 Express(0x80, express.TO_PCI, 128, extended_tags=False),
                                 ErrorReporting(0x100)))
PMC_UPSTREAM = Part(vendor=0x11f8, maker="PMC-Sierra Inc.", device=0x4128, code=0x060400,
                    subsystem=Subsystem(0x10de, 0x1643, "NVIDIA Corporation"),
                    capabilities=(Express(0x40, express.UPSTREAM), BridgeSubsystem(0x80),
                                  PowerManagement(0x90), ErrorReporting(0x100),
                                  AccessControl(0x1c8, 0x4c)))
PMC_DOWNSTREAM = replace(PMC_UPSTREAM, capabilities=(
    Express(0x40, express.DOWNSTREAM, slot=1), BridgeSubsystem(0x80), PowerManagement(0x90),
    ErrorReporting(0x100), AccessControl(0x1cc, EVERY_ACS)))


def epyc(device, code=0x060000, name=""):
    return Part(**AMD, device=device, code=code, name=name,
                subsystem=Subsystem(0x1043, 0x88e2, "ASUSTeK Computer Inc."))


EPYC_ROOT_PORT = Part(**AMD, device=0x14ab, code=0x060400, revision=0x01,
                      subsystem=Subsystem(0x1022, 0x1453, "Advanced Micro Devices, Inc. [AMD]"),
                      capabilities=(PowerManagement(0x50), Express(0x58, express.ROOT_PORT, slot=0),
                                    BridgeSubsystem(0xc0), ErrorReporting(0x100),
                                    AccessControl(0x2a0, ROOT_PORT_ACS | 0x40)))
PLX_UPSTREAM = replace(PEX_UPSTREAM, name="PEX880xx PCIe Gen 4 Switch", device=0xc010,
                       subsystem=Subsystem(0x1103, 0x7540, "HighPoint Technologies, Inc."))
PLX_DOWNSTREAM = replace(PLX_UPSTREAM, capabilities=pex_downstream(1).capabilities)
ASPEED_BRIDGE = Part(**ASPEED, device=0x1150, code=0x060400, revision=0x06,
                     name="AST1150 PCI-to-PCI Bridge",
                     capabilities=(PowerManagement(0x78),
                                   Express(0x80, express.TO_PCI, 128, extended_tags=False),
                                   ErrorReporting(0x100)))
AMAZON_PORT = Part(**AMAZON, device=0x0200, code=0x060400,
                   subsystem=Subsystem(0x1d0f, 0x0200, "Amazon.com, Inc."))


def amazon_port(kind):
    return replace(AMAZON_PORT, capabilities=(
        Express(0x40, kind, 256), PowerManagement(0x80), BridgeSubsystem(0x90)))


# What else is in the machines

MICRON_DISK = Part(vendor=0x1344, maker="Micron Technology Inc", device=0x51c3, code=0x010802,
                   revision=0x01, subsystem=of_dell(0x2278), bars=(Bar(0, 256 * KIB),),
                   capabilities=(PowerManagement(0x80), Express(0xc0, express.ENDPOINT),
                                 ErrorReporting(0x100, 2)))
INTEL_DISK = Part(**INTEL, device=0x0b60, code=0x010802,
                  name="NVMe DC SSD [3DNAND, Sentinel Rock Controller]",
                  subsystem=Subsystem(0x8086, 0xb080, "Intel Corporation",
                                      "NVMe DC SSD [3DNAND, Sentinel Rock Controller]"),
                  bars=(Bar(0, 16 * KIB),),
                  capabilities=(PowerManagement(0x40), Express(0x60, express.ENDPOINT),
                                ErrorReporting(0x100, 2)))


def samsung_disk(device, name):
    return Part(**SAMSUNG, device=device, code=0x010802, name=name,
                subsystem=Subsystem(0x144d, 0xa801, "Samsung Electronics Co Ltd"),
                bars=(Bar(0, 16 * KIB),),
                capabilities=(PowerManagement(0x40), Express(0x70, express.ENDPOINT),
                              ErrorReporting(0x100, 2)))


HIGHPOINT_RAID = Part(**HIGHPOINT, device=0x7540, code=0x010400, revision=0x01,
                      name="SSD7540 PCIe Gen4 x16 8-Port M.2 NVMe RAID Controller",
                      subsystem=Subsystem(0x1103, 0x7540, "HighPoint Technologies, Inc.",
                                          "SSD7540 PCIe Gen4 x16 8-Port M.2 NVMe RAID Controller"),
                      bars=(Bar(5, 2 * KIB, wide=False),),
                      capabilities=(PowerManagement(0x40),
                                    Express(0x70, express.LEGACY, extended_tags=False,
                                            reset=False),
                                    ErrorReporting(0x100)))
EBS_DISK = Part(**AMAZON, device=0x8061, code=0x010802, name="NVMe EBS Controller",
                subsystem=Subsystem(0x1d0f, 0, "Amazon.com, Inc."),
                bars=(Bar(0, 16 * KIB, wide=False),),
                capabilities=(Express(0x70, express.ENDPOINT, 256), MsiX(0xb0, 9)))
LOCAL_DISK = replace(EBS_DISK, device=0xcd01, name="NVMe SSD Controller")
AMAZON_VGA = Part(**AMAZON, device=0x1111, code=0x030000, bars=(Bar(0, 4 * MIB, wide=False),))
PIIX4 = Part(**INTEL, device=0x7113, code=0x000000, revision=0x08,
             name="82371AB/EB/MB PIIX4 ACPI")
MATROX = Part(vendor=0x102b, maker="Matrox Electronics Systems Ltd.", device=0x0536,
              code=0x030000, revision=0x04, name="Integrated Matrox G200eW3 Graphics Controller",
              subsystem=of_dell(0x0b73, "Integrated Matrox G200eW3 Graphics Controller"),
              bars=(Bar(1, 16 * KIB, wide=False), Bar(2, 8 * MIB, wide=False)),
              capabilities=(PowerManagement(0xdc),))
ASPEED_VGA = Part(**ASPEED, device=0x2000, code=0x030000, revision=0x52,
                  name="ASPEED Graphics Family",
                  subsystem=Subsystem(0x1a03, 0x2000, "ASPEED Technology, Inc.",
                                      "ASPEED Graphics Family"),
                  bars=(Bar(0, 64 * MIB, wide=False),), capabilities=(PowerManagement(0x40),))


def xeon_peripheral(device, code=0x088000, subsystem=Subsystem(0x8086, 0, "Intel Corporation")):
    kind = express.COLLECTOR if code == 0x080700 else express.INTEGRATED
    return Part(**INTEL, device=device, code=code, revision=0x20 if code == 0x088000 else 0,
                subsystem=subsystem,
                capabilities=(Express(0x40, kind, 128, extended_tags=False, reset=False,
                                      errors=0),))
