// GPUs and NICs of makers that gdr does not support: named, in every source.
#include <gtest/gtest.h>

#include <algorithm>

#include "described_machine.h"
#include "host/foreign_devices.h"
#include "host/source/hwloc_xml.h"
#include "host/source/lspci.h"
#include "host/source/nccl_xml.h"
#include "machine.h"

namespace gdr::host {
namespace {

using Kind = UnsupportedDevice::Kind;
using test::DescribedMachine;

Inventory of(Result<Inventory> machine) {
  EXPECT_TRUE(machine) << machine.error().message;
  return machine ? *std::move(machine) : Inventory();
}

struct Foreign {
  Kind kind;
  std::uint16_t vendor, device;
  std::uint32_t class_code;
  const char *maker, *name;
};
constexpr Foreign kForeign[] = {
    {Kind::kGpu, 0x1002, 0x74a1, 0x120000, "Advanced Micro Devices, Inc. [AMD/ATI]",
     "Aqua Vanjaram [Instinct MI300X]"},
    {Kind::kGpu, 0x1002, 0x740c, 0x038000, "Advanced Micro Devices, Inc. [AMD/ATI]",
     "Aldebaran/MI200 [Instinct MI250X/MI250]"},
    {Kind::kGpu, 0x8086, 0x0bd5, 0x038000, "Intel Corporation",
     "Ponte Vecchio XT (2 Tile) [Data Center GPU Max 1550]"},
    {Kind::kGpu, 0x1da3, 0x1020, 0x120000, "Habana Labs Ltd.", "Gaudi2 AI Training Accelerator"},
    {Kind::kNic, 0x17db, 0x0501, 0x020000, "Cray Inc", "Cassini 1 [Slingshot 200Gb]"},
    {Kind::kNic, 0x14e4, 0x1760, 0x020000, "Broadcom Inc. and subsidiaries",
     "BCM57608 25Gb/50Gb/100Gb/200Gb/400Gb Ethernet"},
    {Kind::kNic, 0x14e4, 0x1750, 0x020000, "Broadcom Inc. and subsidiaries",
     "BCM57508 NetXtreme-E 10Gb/25Gb/40Gb/50Gb/100Gb/200Gb Ethernet"},
    {Kind::kNic, 0x8086, 0x1592, 0x020000, "Intel Corporation",
     "Ethernet Controller E810-C for QSFP"},
    {Kind::kNic, 0x1dd8, 0x1002, 0x020000, "AMD Pensando Systems", "DSC Ethernet Controller"},
    {Kind::kNic, 0x434e, 0x0001, 0x020000, "Cornelis Networks", "Cornelis CN5000"},
};

DescribedMachine machine_of(const Foreign& one) {
  DescribedMachine machine;
  machine.add({.address = "0000:41:00.0",
               .port = "0000:40:01.0",
               .vendor = one.vendor,
               .device = one.device,
               .class_code = one.class_code,
               .maker = one.maker,
               .name = one.name,
               .node = 0});
  return machine;
}

void expect_named(const Inventory& machine, const Foreign& one, const char* source) {
  EXPECT_TRUE(machine.gpus.empty()) << source << ": " << one.name;
  EXPECT_TRUE(machine.nics.empty()) << source << ": " << one.name;
  ASSERT_EQ(machine.unsupported.size(), 1u) << source << ": " << one.name;
  EXPECT_EQ(machine.unsupported[0].kind, one.kind) << source << ": " << one.name;
  EXPECT_FALSE(machine.unsupported[0].name.empty());
  EXPECT_EQ(machine.unsupported[0].name.find("NVIDIA"), std::string::npos);
  EXPECT_EQ(machine.pci.find("0000:41:00.0")->remark, "unsupported");
}

TEST(Unsupported, IsNamedInEverySource) {
  for (const Foreign& one : kForeign) {
    const DescribedMachine machine = machine_of(one);
    expect_named(of(read_hwloc_xml(machine.hwloc())), one, "hwloc");
    expect_named(of(read_lspci({{"a", machine.lspci_verbose()}})), one, "lspci -nnvvv");
    expect_named(of(read_lspci({{"a", machine.lspci_verbose(false)}})), one, "lspci -vvv");
    expect_named(of(read_lspci({{"a", machine.lspci_tree()}})), one, "lspci -tv");
    if (one.kind == Kind::kGpu) expect_named(of(read_nccl_xml(machine.nccl())), one, "nccl");
  }
}

TEST(Unsupported, IsNamedInSysfs) {
  for (const Foreign& one : kForeign) {
    test::Machine machine;
    test::MachineFunction port, device;
    port.address = "0000:40:01.0";
    port.parent = "pci0000:40";
    port.kind = 4;
    device.address = "0000:41:00.0";
    device.parent = port.address;
    device.kind = 0;
    device.vendor = one.vendor;
    device.device = one.device;
    device.class_code = one.class_code;
    machine.functions = {port, device};
    machine.write_all();
    expect_named(take_inventory(machine.root()), one, "sysfs");
  }
}

// An RDMA device is one, whoever made it: the kernel says so.
TEST(Unsupported, IsNoNicThatHasAnRdmaDevice) {
  DescribedMachine machine = machine_of(kForeign[5]);
  machine.devices[0].rdma_name = "bnxt_re0";
  const Inventory found = of(read_hwloc_xml(machine.hwloc()));
  ASSERT_EQ(found.nics.size(), 1u);
  EXPECT_EQ(found.nics[0].name, "bnxt_re0");
  EXPECT_TRUE(found.unsupported.empty());
}

// hwloc and NCCL give Slingshot a name as of an RDMA device, and it has no verbs.
TEST(Unsupported, IsSlingshotByAnyName) {
  DescribedMachine machine = machine_of(kForeign[4]);
  machine.devices[0].rdma_name = "cxi0";
  for (const Inventory& found :
       {of(read_hwloc_xml(machine.hwloc())), of(read_nccl_xml(machine.nccl()))}) {
    EXPECT_TRUE(found.nics.empty());
    EXPECT_EQ(found.unsupported.size(), 1u);
  }
}

TEST(Unsupported, AreAmdsGpusInFilesOfRccl) {
  const auto machine = [](const char* gpu, const char* class_code) {
    return of(read_nccl_xml(std::string("<system version='1'><cpu numaid='0'>"
                                        "<pci busid='0000:34:00.0' ") +
                            class_code + ">" + gpu + "</pci></cpu></system>"));
  };
  for (const char* code : {"class='0x038000'", "class='0x030000'", "class='0x120000'", ""}) {
    const Inventory found = machine(
        "<gpu dev='0' sm='90' gcn='908'><xgmi target='0000:36:00.0' count='1'/></gpu>", code);
    EXPECT_TRUE(found.gpus.empty()) << code;
    ASSERT_EQ(found.unsupported.size(), 1u) << code;
    EXPECT_TRUE(found.unsupported[0].name.starts_with("AMD")) << found.unsupported[0].name;
  }
  EXPECT_EQ(machine("<gpu dev='0' sm='90'/>", "").gpus.size(), 1u) << "NVIDIA's";
}

TEST(Unsupported, IsNothingThatDrawsAServersConsole) {
  const Foreign kConsoles[] = {
      {Kind::kGpu, 0x1a03, 0x2000, 0x030000, "ASPEED Technology, Inc.", "ASPEED Graphics Family"},
      {Kind::kGpu, 0x102b, 0x0536, 0x030000, "Matrox Electronics Systems Ltd.",
       "Integrated Matrox G200eW3 Graphics Controller"},
      {Kind::kNic, 0x14e4, 0x165f, 0x020000, "Broadcom Inc. and subsidiaries",
       "NetXtreme BCM5720 Gigabit Ethernet PCIe"},
      {Kind::kNic, 0x8086, 0x1521, 0x020000, "Intel Corporation",
       "I350 Gigabit Network Connection"}};
  for (const Foreign& one : kConsoles) {
    const DescribedMachine machine = machine_of(one);
    EXPECT_TRUE(of(read_hwloc_xml(machine.hwloc())).unsupported.empty()) << one.name;
    EXPECT_TRUE(of(read_lspci({{"a", machine.lspci_verbose(false)}})).unsupported.empty());
    EXPECT_TRUE(of(read_lspci({{"a", machine.lspci_tree()}})).unsupported.empty()) << one.name;
  }
}

// A capture without classes: what pci.ids calls it tells.
TEST(Unsupported, IsNotAGpuOfNvidiaWhoseClassIsNotShown) {
  DescribedMachine machine;
  machine.gpu("0000:41:00.0", "0000:40:01.0", 0).class_code = 0;
  machine.nic("mlx5_0", "0000:81:00.0", "0000:80:01.0", 0).class_code = 0;
  const Inventory found = of(read_hwloc_xml(machine.hwloc()));
  EXPECT_EQ(found.gpus.size(), 1u);
  EXPECT_EQ(found.nics.size(), 1u);
  EXPECT_TRUE(found.unsupported.empty());
}

}  // namespace
}  // namespace gdr::host
