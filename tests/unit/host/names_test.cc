#include "host/pci/names.h"

#include <gtest/gtest.h>

#include "captured_host.h"
#include "host/inventory.h"

namespace gdr::host {
namespace {

TEST(PciNames, AreThoseOfTheGivenFile) {
  test::CapturedHost scratch;
  scratch.write("pci.ids", "10de  NVIDIA Corporation\n\t2330  GH100 [H100 SXM5 80GB]\n");
  PciNames names(scratch.root() + "/pci.ids");
  EXPECT_EQ(names.vendor(0x10de), "NVIDIA Corporation");
  EXPECT_EQ(names.device(0x10de, 0x2330), "GH100 [H100 SXM5 80GB]");
  EXPECT_EQ(names.device(0x10de, 0x2331), "");
  EXPECT_EQ(names.vendor(0x1234), "");
}

TEST(PciNames, AreEmptyWithoutAFile) {
  PciNames names("/no/such/file");
  EXPECT_EQ(names.vendor(0x10de), "");
  EXPECT_EQ(names.device(0x10de, 0x2330), "");
}

TEST(PciNames, AreOfTheirVendorAndNotOfSubsystemsOrClasses) {
  test::CapturedHost scratch;
  scratch.write(
      "pci.ids",
      "# comment\n10de  NVIDIA Corporation\n\t2330  GH100\n\t\t10de 2331  board\n# comment\n"
      "\t2342  GH200\nnonsense\n15b3  Mellanox Technologies\n\t1021  MT2910\nC 03  Display\n"
      "\t02  3D\n");
  PciNames names(scratch.root() + "/pci.ids");
  EXPECT_EQ(names.device(0x10de, 0x2330), "GH100");
  EXPECT_EQ(names.device(0x10de, 0x2331), "");
  EXPECT_EQ(names.device(0x10de, 0x2342), "GH200");
  EXPECT_EQ(names.device(0x10de, 0x1021), "");
  EXPECT_EQ(names.device(0x15b3, 0x1021), "MT2910");
  EXPECT_EQ(names.vendor(0x15b3), "Mellanox Technologies");
  EXPECT_EQ(names.device(0x15b3, 0x0002), "");
}

TEST(PciNames, AreLookedUpOnlyForWhoAsks) {
  const std::string name = PciNames().device(0x10de, 0x2330);
  if (name.empty()) GTEST_SKIP() << "no pci.ids here";
  test::CapturedHost host;
  host.bridge("0000:00:01.0", "pci0000:00");
  host.function({"0000:01:00.0", "0000:00:01.0", "16", "16", 16, 16});
  host.write("sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de\n");
  host.write("sys/bus/pci/devices/0000:01:00.0/device", "0x2330\n");
  host.write("sys/bus/pci/devices/0000:01:00.0/class", "0x030200\n");
  Inventory machine = take_inventory(host.root());
  EXPECT_EQ(machine.pci.find("0000:01:00.0")->name, "");
  ASSERT_EQ(machine.gpus.size(), 1u);
  EXPECT_EQ(machine.gpus[0].model, "NVIDIA " + name) << "the driver does not say it";
  name_functions(machine);
  EXPECT_EQ(machine.pci.find("0000:01:00.0")->name, name);
  EXPECT_EQ(machine.gpus[0].pci->name, name);
}

TEST(PciNames, LeaveWhatTheSourceHasSaid) {
  Inventory machine;
  PciFunction function;
  function.address = "0000:01:00.0";
  function.vendor = 0x10de;
  function.device = 0x2330;
  function.name = "as lspci wrote it";
  machine.pci.add(function);
  name_functions(machine);
  EXPECT_EQ(machine.pci.find("0000:01:00.0")->name, "as lspci wrote it");
}

}  // namespace
}  // namespace gdr::host
