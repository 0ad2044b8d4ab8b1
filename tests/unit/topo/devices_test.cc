#include "topo/devices.h"

#include <gtest/gtest.h>

#include "made_up_machine.h"

namespace gdr::topo {
namespace {

using test::MadeUpMachine;

TEST(Devices, NumbersGpusInPciOrderThenNicsThenRequestedOnes) {
  MadeUpMachine machine;
  machine.bridge("0000:00:01.0", "pci0000:00");
  machine.bridge("10000:00:01.0", "pci10000:00");
  machine.gpu("10000:01:00.0", "10000:00:01.0", 0);
  machine.gpu("0000:ff:00.0", "0000:00:01.0", 0);
  machine.nic("mlx5_0", "0000:02:00.0", "0000:00:01.0", 0);
  const auto devices = list_devices(machine.inventory, {"00:01.0"});
  ASSERT_TRUE(devices);
  ASSERT_EQ(devices->size(), 4u);
  EXPECT_EQ((*devices)[0].label + " " + (*devices)[0].address, "GPU0 0000:ff:00.0");
  EXPECT_EQ((*devices)[1].label + " " + (*devices)[1].address, "GPU1 10000:01:00.0");
  EXPECT_EQ((*devices)[1].index, 0u) << "of the inventory";
  EXPECT_EQ((*devices)[2].label, "NIC0");
  EXPECT_EQ((*devices)[3].label + " " + (*devices)[3].address, "DEV0 0000:00:01.0");
  EXPECT_EQ((*devices)[3].name, "1234:5678");
}

TEST(Devices, LeaveOutSoftwareNics) {
  MadeUpMachine machine;
  machine.inventory.nics.resize(1);
  machine.inventory.nics[0].name = "rxe0";
  EXPECT_TRUE(list_devices(machine.inventory, {})->empty());
}

TEST(Devices, SayWhatIsWrongWithAnAddress) {
  const MadeUpMachine machine = test::two_node_machine();
  const auto error = [&](const std::vector<std::string>& others) {
    const auto devices = list_devices(machine.inventory, others);
    return devices ? std::string("none") : devices.error().message;
  };
  EXPECT_EQ(error({"nvme0"}), "'nvme0' is not a PCI address such as 0000:3b:00.0");
  EXPECT_EQ(error({"0000:99:00.0"}),
            "this machine has no PCI function 0000:99:00.0; lspci -D lists them");
  EXPECT_EQ(error({"81:00.0"}), "0000:81:00.0 is already in the matrix, as a GPU");
  EXPECT_EQ(error({"82:00.0", "0000:82:00.0"}),
            "0000:82:00.0 is already in the matrix: it is given twice");
  EXPECT_EQ(error({"82:00.0"}), "none");
}

TEST(Devices, AreNotComparedInAnyNumber) {
  MadeUpMachine machine;
  machine.inventory.nics.resize(10000);
  const auto devices = list_devices(machine.inventory, {});
  ASSERT_FALSE(devices);
  EXPECT_EQ(devices.error().code, E2BIG);
  EXPECT_EQ(devices.error().message,
            "too many devices for a matrix: 10000 GPUs and NICs, at most 1024");
}

TEST(Devices, OfOneCardShareItsLink) {
  MadeUpMachine machine;
  machine.bridge("0000:00:01.0", "pci0000:00");
  machine.nic("mlx5_0", "0000:01:00.0", "0000:00:01.0", 0, "", 16, 8);
  machine.nic("mlx5_1", "0000:01:00.1", "0000:00:01.0", 0);
  machine.inventory.nics[1].pci->links.clear();
  const auto devices = list_devices(machine.inventory, {});
  ASSERT_TRUE(devices && link_of((*devices)[1]));
  EXPECT_EQ(text_of(*link_of((*devices)[1])), "16 of 32 GT/s x8 of x16");
  EXPECT_EQ(link_of((*devices)[1])->below, "0000:01:00.1");
}

}  // namespace
}  // namespace gdr::topo
