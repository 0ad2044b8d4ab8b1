// What doctor says of devices that it does not support, of those for management, and of guests:
// the same as gdr topo.
#include <algorithm>

#include "described_machine.h"
#include "found.h"
#include "host/source/hwloc_xml.h"
#include "host/source/lspci.h"
#include "host/source/nccl_xml.h"

namespace gdr::doctor {
namespace {

using gdr::test::DescribedMachine;
using test::Environment;
using test::find;
using test::Machine;
using test::outcomes;
using test::says;

// Runs a check on a description, which has no files.
Findings find_in(const Check& check, const Result<host::Inventory>& inventory,
                 Environment environment = {}) {
  EXPECT_TRUE(inventory) << inventory.error().message;
  if (!inventory) return {};
  const host::Files files("/dev/null");
  const Host host{.files = files,
                  .inventory = *inventory,
                  .environment = std::move(environment),
                  .kernel_log = {},
                  .kernel_symbols = {}};
  return check.find(host);
}

void add_device(Machine& machine, std::uint16_t vendor, std::uint16_t device, std::uint32_t code) {
  gdr::test::MachineFunction port, function;
  port.address = "0000:c0:01.0";
  port.parent = "pci0000:c0";
  port.kind = 4;
  function.address = "0000:c1:00.0";
  function.parent = port.address;
  function.kind = 0;
  function.vendor = vendor;
  function.device = device;
  function.class_code = code;
  machine.functions.push_back(port);
  machine.functions.push_back(function);
}

TEST(UnsupportedDevices, LeaveGpusUnknownAndAreNamed) {
  Machine machine;
  add_device(machine, 0x1002, 0x74a1, 0x120000);
  const Findings found = find(kGpus, machine);
  EXPECT_EQ(outcomes(found), "unknown");
  EXPECT_TRUE(says(found, "unsupported: AMD"));
  EXPECT_TRUE(says(found, "0000:c1:00.0"));
  Machine none;
  add_device(none, 0x144d, 0xa80a, 0x010802);
  EXPECT_EQ(outcomes(find(kGpus, none)), "fail") << "there is no GPU of anybody's";
}

TEST(UnsupportedDevices, LeaveNicsUnknownAndAreNamed) {
  const std::pair<std::uint16_t, std::uint16_t> nics[] = {
      {0x17db, 0x0501}, {0x14e4, 0x1760}, {0x8086, 0x1592}, {0x1dd8, 0x1002}};
  for (const auto& [vendor, device] : nics) {
    Machine machine;
    add_device(machine, vendor, device, 0x020000);
    const Findings found = find(kNics, machine);
    EXPECT_EQ(outcomes(found), "unknown") << vendor;
    EXPECT_TRUE(says(found, "unsupported: "));
  }
  Machine with;
  with.add_switch(1);
  add_device(with, 0x8086, 0x1592, 0x020000);
  EXPECT_EQ(outcomes(find(kNics, with)), "ok") << "there is another that is supported";
}

TEST(UnsupportedDevices, AreUnknownInDescriptionsToo) {
  DescribedMachine machine;
  machine.add({.address = "0000:41:00.0",
               .port = "0000:40:01.0",
               .vendor = 0x8086,
               .device = 0x0bd5,
               .class_code = 0x038000,
               .maker = "Intel Corporation",
               .name = "Ponte Vecchio [Data Center GPU Max 1550]"});
  machine.add({.address = "0000:81:00.0",
               .port = "0000:80:01.0",
               .vendor = 0x17db,
               .device = 0x0501,
               .maker = "Cray Inc",
               .name = "Cassini"});
  for (const auto& inventory : {host::read_hwloc_xml(machine.hwloc()),
                                host::read_lspci({{"a.txt", machine.lspci_verbose()}}),
                                host::read_lspci({{"a.txt", machine.lspci_tree()}})}) {
    EXPECT_EQ(outcomes(find_in(kGpus, inventory)), "unknown");
    EXPECT_EQ(outcomes(find_in(kNics, inventory)), "unknown");
  }
}

DescribedMachine b200() {
  DescribedMachine machine;
  machine.gpu("0000:1b:00.0", "0000:1a:01.0", 0);
  machine.nic("mlx5_0", "0000:1c:00.0", "0000:1a:02.0", 0);
  for (const char* name : {"mlx5_8", "mlx5_9"}) {
    const bool first = name[5] == '8';
    auto& managing = machine.nic(name, first ? "0000:1d:00.0" : "0000:1e:00.0",
                                 first ? "0000:1a:03.0" : "0000:1a:04.0", 0);
    managing.speed = 16;
    managing.width = 2;
  }
  return machine;
}

TEST(ManagementNicsCheck, WarnsWhereNcclWouldTakeThem) {
  const auto inventory = host::read_hwloc_xml(b200().hwloc());
  const std::pair<const char*, const char*> cases[] = {{"", "warn"},
                                                       {"mlx5", "warn"},
                                                       {"mlx5_0,mlx5_8", "warn"},
                                                       {"mlx5_9:1", "warn"},
                                                       {"^mlx5_8", "warn"},
                                                       {"^=mlx5_8,mlx5_9", "ok"},
                                                       {"^mlx5_8,mlx5_9", "ok"},
                                                       {"mlx5_0", "ok"},
                                                       {"=mlx5_0:1", "ok"},
                                                       {"^=mlx5_0", "warn"}};
  for (const auto& [value, expected] : cases) {
    Environment environment;
    if (value[0] != '\0') environment["NCCL_IB_HCA"] = value;
    const Findings found = find_in(kManagementNics, inventory, environment);
    EXPECT_EQ(outcomes(found), expected) << value;
    if (std::string(expected) == "warn") {
      EXPECT_EQ(found[0].fix.now.command.text(), "export NCCL_IB_HCA=^=mlx5_8,mlx5_9") << value;
    }
  }
}

TEST(ManagementNicsCheck, DoesNotApplyWithoutAny) {
  Machine machine;
  machine.add_switch(1);
  EXPECT_EQ(outcomes(find(kManagementNics, machine)), "");
}

TEST(ManagementNicsCheck, KeepsThemOutOfTheOtherChecks) {
  const auto inventory = host::read_lspci({{"a.txt", b200().lspci_verbose()}});
  for (const Finding& finding : find_in(kLink, inventory)) {
    EXPECT_FALSE(finding.outcome == Outcome::kWarn) << finding.subject << finding.summary;
  }
  for (const Finding& finding : find_in(kPairGrade, inventory)) {
    EXPECT_EQ(finding.subject.find("mlx5_8"), std::string::npos) << finding.subject;
  }
}

TEST(NicsCheck, FailsWhereAllNicsAreForManagement) {
  DescribedMachine machine = b200();
  auto inventory = host::read_hwloc_xml(machine.hwloc());
  ASSERT_TRUE(inventory);
  std::erase_if(inventory->nics, [](const host::Nic& nic) { return nic.management.empty(); });
  const Findings found = find_in(kNics, inventory);
  EXPECT_EQ(found.at(0).outcome, Outcome::kFail);
  EXPECT_TRUE(says(found, "none is for data"));
}

TEST(PairGradeCheck, IsUnknownIfDevicesRevealAHypervisor) {
  DescribedMachine machine;
  machine.gpu("0000:05:00.0", "0000:00:02.0", 0);
  machine.nic("mlx5_0", "0000:06:00.0", "0000:00:03.0", 0);
  machine.add({.address = "0000:00:1f.0",
               .vendor = 0x1b36,
               .device = 0x000c,
               .class_code = 0x088000,
               .maker = "Red Hat, Inc.",
               .name = "QEMU PCIe Root port"});
  for (const auto& inventory : {host::read_hwloc_xml(machine.hwloc()),
                                host::read_lspci({{"a.txt", machine.lspci_verbose()}}),
                                host::read_lspci({{"a.txt", machine.lspci_tree()}})}) {
    EXPECT_EQ(outcomes(find_in(kPairGrade, inventory)), "unknown");
    EXPECT_TRUE(says(find_in(kVirtualisation, inventory), "QEMU"));
  }
}

TEST(PairGradeCheck, IsUnknownWithoutNodesOrHostBridges) {
  DescribedMachine machine;
  machine.gpu("0000:41:00.0", "0000:40:01.0");
  machine.nic("mlx5_0", "0000:81:00.0", "0000:80:01.0");
  const auto tree = host::read_lspci({{"a.txt", machine.lspci_tree()}});
  EXPECT_EQ(outcomes(find_in(kPairGrade, tree)), "unknown");
  EXPECT_FALSE(says(find_in(kPairGrade, tree), "SYS"));
  DescribedMachine flat;
  flat.gpu("0000:41:00.0", "", 0);
  flat.nic("mlx5_0", "0000:81:00.0", "", 0);
  const auto nccl = host::read_nccl_xml(flat.nccl());
  EXPECT_EQ(outcomes(find_in(kPairGrade, nccl)), "unknown");
  EXPECT_TRUE(says(find_in(kPairGrade, nccl), "PHB or NODE"));
}

TEST(PairGradeCheck, IsNodeOnAHostWithOneNode) {
  DescribedMachine machine;
  machine.gpu("0000:41:00.0", "0000:40:01.0");
  machine.nic("mlx5_0", "0000:81:00.0", "0000:80:01.0");
  const auto found = find_in(kPairGrade, host::read_hwloc_xml(machine.hwloc()));
  EXPECT_EQ(outcomes(found), "warn");
  EXPECT_TRUE(says(found, "(NODE)"));
}

}  // namespace
}  // namespace gdr::doctor
