#include "topo/best.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "host/best_nic.h"
#include "made_up_machine.h"

namespace gdr::topo {
namespace {

using test::MadeUpMachine;

std::string chosen(const Report& report, std::size_t gpu) {
  const Choice& choice = report.choices.at(gpu);
  return choice.nic ? report.inventory.nics[report.devices[*choice.nic].index].name : "none";
}

// GPUs and NICs on root ports of their own, all below one host bridge of each node.
MadeUpMachine machine_with(int gpus) {
  MadeUpMachine machine;
  for (int i = 1; i <= gpus; ++i) {
    const std::string port = "0000:00:0" + std::to_string(i) + ".0";
    machine.bridge(port, "pci0000:00", host::PciKind::kRootPort, 0);
    machine.gpu("0000:0" + std::to_string(i) + ":00.0", port, 0);
  }
  return machine;
}
void add_nic(MadeUpMachine& machine, int number, int node, const std::string& state = "4: ACTIVE",
             double speed = 32, unsigned width = 16) {
  const std::string bridge = node == 0 ? "0000:00:1" : "0000:80:1";
  const std::string port = bridge + std::to_string(number) + ".0";
  machine.bridge(port, node == 0 ? "pci0000:00" : "pci0000:80", host::PciKind::kRootPort, node);
  machine.nic("mlx5_" + std::to_string(number), "0000:1" + std::to_string(number) + ":00.0", port,
              node, state, speed, width);
}

// Who chooses is tested in host; here, that what it says is told in terms of the list of devices.
TEST(BestNic, IsTheOneThatHostChooses) {
  MadeUpMachine machine = test::two_node_machine();
  // Listed by address, so that the numbers of inventory and list differ.
  std::swap(machine.inventory.gpus[0], machine.inventory.gpus[1]);
  const Report report = machine.report();
  const auto chosen_by_host = host::choose_nics(report.inventory);
  ASSERT_EQ(report.choices.size(), chosen_by_host.size());
  for (const host::NicChoice& one : chosen_by_host) {
    const std::string& address = report.inventory.gpus[one.gpu].pci_address;
    const auto told = std::find_if(
        report.choices.begin(), report.choices.end(),
        [&](const Choice& choice) { return report.devices[choice.gpu].address == address; });
    ASSERT_NE(told, report.choices.end());
    EXPECT_EQ(report.devices[*told->nic].index, one.nics.front().index) << address;
    EXPECT_EQ(told->path, one.nics.front().path);
    EXPECT_EQ(told->alike.size(), one.alike);
  }
}

TEST(BestNic, IsTheNearest) {
  const Report report = test::two_node_machine().report();
  EXPECT_EQ(chosen(report, 0), "mlx5_0");
  EXPECT_EQ(report.choices[0].quality, Quality::kGood);
  EXPECT_EQ(report.choices[0].why, "nearest; NIC1 is at PXB");
  EXPECT_EQ(report.choices[1].quality, Quality::kBad);
}

TEST(BestNic, OfEquallyNearOnesIsOnTheGpusNode) {
  MadeUpMachine machine = machine_with(1);
  add_nic(machine, 0, 0);
  add_nic(machine, 1, 0);
  machine.inventory.nics[0].numa_node = 1;  // the paths say PHB all the same
  const Report report = machine.report();
  EXPECT_EQ(chosen(report, 0), "mlx5_1");
  EXPECT_EQ(report.choices[0].why, "as near as NIC0, and on the GPU's NUMA node");
  EXPECT_EQ(report.choices[0].quality, Quality::kLikelyGood);
}

TEST(BestNic, OfThoseHasTheFasterLink) {
  MadeUpMachine machine = machine_with(1);
  add_nic(machine, 0, 0, "4: ACTIVE", 32, 8);
  add_nic(machine, 1, 0, "1: DOWN", 32, 16);
  const Report report = machine.report();
  EXPECT_EQ(chosen(report, 0), "mlx5_1");
  EXPECT_EQ(report.choices[0].why,
            "as near as NIC0, with the faster link: 32 GT/s x16; its ports are down");
}

TEST(BestNic, OfThoseHasAnActivePort) {
  MadeUpMachine machine = machine_with(1);
  add_nic(machine, 0, 0, "1: DOWN");
  add_nic(machine, 1, 0);
  const Report report = machine.report();
  EXPECT_EQ(chosen(report, 0), "mlx5_1");
  EXPECT_EQ(report.choices[0].why, "as near as NIC0, with an active port");
}

TEST(BestNic, IsSharedByAsFewGpusAsCanBe) {
  MadeUpMachine machine = machine_with(4);
  add_nic(machine, 0, 0);
  add_nic(machine, 1, 0);
  const Report report = machine.report();
  EXPECT_EQ(chosen(report, 0), "mlx5_0");
  EXPECT_EQ(chosen(report, 1), "mlx5_1");
  EXPECT_EQ(chosen(report, 2), "mlx5_0");
  EXPECT_EQ(chosen(report, 3), "mlx5_1");
  EXPECT_EQ(report.choices[0].why, "as good as NIC1; chosen to spread the GPUs over the NICs");
  EXPECT_EQ(report.choices[0].alike.size(), 1u);
}

TEST(BestNic, IsLeftToTheGpuThatHasNoOther) {
  MadeUpMachine machine = machine_with(1);
  // GPU1 below the same port as mlx5_0; GPU0 has both equally far.
  add_nic(machine, 0, 0);
  add_nic(machine, 1, 0);
  machine.gpu("0000:10:01.0", "0000:00:10.0", 0);
  const Report report = machine.report();
  EXPECT_EQ(chosen(report, 1), "mlx5_0");
  EXPECT_EQ(chosen(report, 0), "mlx5_1");
}

TEST(BestNic, SpreadsOverCardsBeforeTheirPorts) {
  MadeUpMachine machine = machine_with(2);
  add_nic(machine, 0, 0);
  machine.nic("mlx5_9", "0000:10:00.1", "0000:00:10.0", 0);
  add_nic(machine, 1, 0);
  const Report report = machine.report();
  EXPECT_EQ(chosen(report, 0), "mlx5_0");
  EXPECT_EQ(chosen(report, 1), "mlx5_1") << "another card, not the other port of the first";
}

TEST(BestNic, OfAFlatVirtualMachineHasUnknownQuality) {
  MadeUpMachine machine = machine_with(1);
  add_nic(machine, 0, 0);
  machine.inventory.flat = machine.inventory.virtual_machine = true;
  const Report report = machine.report();
  EXPECT_EQ(chosen(report, 0), "mlx5_0");
  EXPECT_EQ(report.choices[0].quality, Quality::kUnknown);
}

TEST(BestNic, IsNoneWhereThereIsNone) {
  const Report report = machine_with(1).report();
  EXPECT_EQ(chosen(report, 0), "none");
  EXPECT_EQ(report.choices[0].why, "no RDMA NIC");
}

TEST(BestNic, IsNotPraisedWhereNoDistanceIsKnown) {
  MadeUpMachine machine = machine_with(1);
  add_nic(machine, 0, 0);
  add_nic(machine, 1, 0);
  machine.inventory.gpus[0].pci->path = {"0000:01:00.0"};
  const Report report = machine.report();
  EXPECT_EQ(report.choices[0].why, "distances unknown");
  EXPECT_EQ(report.choices[0].quality, Quality::kUnknown);
}

}  // namespace
}  // namespace gdr::topo
