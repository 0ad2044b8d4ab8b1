// NICs that manage NVSwitches, whatever source shows them: never the best, and said to be apart.
#include "host/management.h"

#include <gtest/gtest.h>

#include "described_machine.h"
#include "host/best_nic.h"
#include "host/source/hwloc_xml.h"
#include "host/source/lspci.h"
#include "host/source/nccl_xml.h"
#include "machine.h"

namespace gdr::host {
namespace {

using test::DescribedDevice;
using test::DescribedMachine;

Inventory of(Result<Inventory> machine) {
  EXPECT_TRUE(machine) << machine.error().message;
  return machine ? *std::move(machine) : Inventory();
}
Inventory of_lspci(const std::string& text) { return of(read_lspci({{"a.txt", text}})); }

// As on HGX B200: the management functions have their GPU's host bridge to themselves, the data NIC
// is farther; their links are x2 of the 4th generation, 3.9 GB/s, beside x16 of the 5th.
DescribedMachine b200(const char* field) {
  DescribedMachine machine;
  machine.gpu("0000:1b:00.0", "0000:1a:01.0", 0);
  machine.nic("mlx5_0", "0000:3b:00.0", "0000:3a:01.0", 0);
  for (const char* bus : {"1c", "1d"}) {
    DescribedDevice& nic =
        machine.nic(std::string("mlx5_") + bus, std::string("0000:") + bus + ":00.0",
                    std::string("0000:1a:0") + (bus[1] == 'c' ? "2.0" : "3.0"), 0);
    if (field[0] == '\0') {
      nic.speed = 16;
      nic.width = 2;
    } else {
      nic.product_field = field;
    }
  }
  return machine;
}

void expect_apart(const Inventory& machine, const char* source,
                  const std::string& remark = kLikelyManagementRemark) {
  ASSERT_EQ(machine.nics.size(), 3u) << source;
  std::size_t managing = 0;
  for (const Nic& nic : machine.nics) {
    const bool expected = nic.pci_address.starts_with("0000:1");
    EXPECT_EQ(!nic.management.empty(), expected) << source << " " << nic.name;
    EXPECT_EQ(nic.pci->remark, expected ? remark : "") << source;
    managing += expected ? 1 : 0;
  }
  EXPECT_EQ(managing, 2u) << source;
  const auto choices = choose_nics(machine);
  ASSERT_EQ(choices.size(), 1u) << source;
  ASSERT_EQ(choices[0].nics.size(), 1u) << source;
  EXPECT_EQ(machine.nics[choices[0].nics[0].index].pci_address, "0000:3b:00.0") << source;
}

TEST(ManagementNics, AreKnownByTheirSlowLinkBesideFastOnes) {
  const DescribedMachine machine = b200("");
  expect_apart(of(read_hwloc_xml(machine.hwloc())), "hwloc");
  expect_apart(of(read_nccl_xml(machine.nccl())), "nccl");
  expect_apart(of_lspci(machine.lspci_verbose()), "lspci -nnvvv");
  expect_apart(of_lspci(machine.lspci_verbose(false)), "lspci -vvv");
}

TEST(ManagementNics, AreKnownByTheirProductDataInLspci) {
  expect_apart(of_lspci(b200("MODL=CX7:SMDL=SW_MNG").lspci_verbose()), "lspci", kManagementRemark);
}

TEST(ManagementNics, FindsNoneIfAllLinksAreSlowOrTheCardIsOld) {
  DescribedMachine slow = b200("");
  for (DescribedDevice& device : slow.devices) device.width = 2;
  for (const Nic& nic : of(read_hwloc_xml(slow.hwloc())).nics) EXPECT_EQ(nic.management, "");
  DescribedMachine old = b200("");
  for (DescribedDevice& device : old.devices) {
    if (device.width == 2) device.device = 0x1015;  // ConnectX-4 Lx
  }
  for (const Nic& nic : of(read_hwloc_xml(old.hwloc())).nics) EXPECT_EQ(nic.management, "");
}

TEST(ManagementNics, AreNotGuessedInAVirtualMachine) {
  DescribedMachine machine = b200("");
  machine.information = {{"DMIProductName", "KVM Virtual Machine"}};
  for (const Nic& nic : of(read_hwloc_xml(machine.hwloc())).nics) EXPECT_EQ(nic.management, "");
}

std::string product_data(const std::string& field) {
  const auto tag = [](char kind, const std::string& content) {
    return std::string(1, kind) + static_cast<char>(content.size()) + '\0' + content;
  };
  const std::string value = "V0" + std::string(1, static_cast<char>(field.size())) + field;
  return tag('\x82', "ConnectX-7") +
         tag('\x90',
             "SN\x03"
             "123" +
                 value) +
         "\x78";
}

TEST(ManagementNics, AreKnownByTheirProductDataInSysfs) {
  for (const bool managing : {true, false}) {
    test::Machine machine;
    machine.add_switch(1);
    machine.add_switch(2);
    machine.write_all();
    machine.write("sys/bus/pci/devices/0000:1a:00.0/vpd",
                  product_data(managing ? "SMDL=SW_MNG" : "SMDL=OTHER"));
    const Inventory inventory = take_inventory(machine.root());
    ASSERT_EQ(inventory.nics.size(), 2u);
    EXPECT_EQ(inventory.nics[0].management, managing ? kSaysManagement : "");
    EXPECT_EQ(inventory.nics[1].management, "");
    const auto choices = choose_nics(inventory);
    ASSERT_EQ(choices.size(), 2u);
    // Below the GPU's own switch, and still not chosen.
    EXPECT_EQ(inventory.nics[choices[0].nics[0].index].name, managing ? "mlx5_2" : "mlx5_1");
  }
}

TEST(ManagementNics, LeaveAGpuWithoutANicWhereThereIsNoOther) {
  test::Machine machine;
  machine.add_switch(1);
  machine.write_all();
  for (const char* broken : {"", "\x82", "\x82\xff\xff", "\x90\x03\x00", "SW_MNG"}) {
    machine.write("sys/bus/pci/devices/0000:1a:00.0/vpd", broken);
    EXPECT_EQ(take_inventory(machine.root()).nics.at(0).management, "") << broken;
  }
  machine.write("sys/bus/pci/devices/0000:1a:00.0/vpd", product_data("SW_MNG"));
  const auto choices = choose_nics(take_inventory(machine.root()));
  ASSERT_EQ(choices.size(), 1u);
  EXPECT_TRUE(choices[0].nics.empty());
  EXPECT_EQ(why(choices[0], [](const RankedNic&) { return std::string(); }), "no NIC for data");
}

TEST(FasterLink, DecidesByHwlocsBandwidthToo) {
  DescribedMachine machine;
  machine.gpu("0000:1b:00.0", "0000:1a:01.0", 0);
  machine.nic("mlx5_0", "0000:1c:00.0", "0000:1a:02.0", 0).width = 8;
  machine.nic("mlx5_1", "0000:1d:00.0", "0000:1a:03.0", 0);
  for (const Inventory& found :
       {of(read_hwloc_xml(machine.hwloc())), of(read_nccl_xml(machine.nccl()))}) {
    const auto choices = choose_nics(found);
    ASSERT_EQ(choices.size(), 1u);
    EXPECT_EQ(choices[0].reason, NicReason::kFasterLink);
    EXPECT_EQ(found.nics[choices[0].nics[0].index].name, "mlx5_1");
    EXPECT_FALSE(choices[0].detail.empty());
  }
}

}  // namespace
}  // namespace gdr::host
