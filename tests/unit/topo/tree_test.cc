#include "topo/tree.h"

#include <gtest/gtest.h>

#include "made_up_machine.h"
#include "topo/output/tree_text.h"

namespace gdr::topo {
namespace {

TEST(Tree, DrawsSwitchesAsOneAndPortsWithWhatIsBelowThem) {
  EXPECT_EQ(tree_text(test::two_node_machine().report(), false, 0),
            "pci0000:00  NUMA node 0\n"
            "├─ root port 00:01.0 ─ switch 01:00.0  1234:5678  32 GT/s x16\n"
            "│  ├─ 02:00.0 ─ GPU0 03:00.0  NVIDIA H100  32 GT/s x16  → NIC0\n"
            "│  ├─ 02:01.0 ─ NIC0 04:00.0  mlx5_0  32 GT/s x16\n"
            "│  └─ 02:02.0 ─ switch 05:00.0  1234:5678  32 GT/s x16\n"
            "│     └─ 06:00.0 ─ NIC1 07:00.0  mlx5_1  32 GT/s x16\n"
            "└─ root port 00:02.0 ─ NIC2 08:00.0  mlx5_2  32 GT/s x16\n"
            "pci0000:40  NUMA node 0\n"
            "└─ root port 40:01.0 ─ NIC3 41:00.0  mlx5_3  32 GT/s x16\n"
            "pci0000:80  NUMA node 1\n"
            "└─ root port 80:01.0 ─ GPU1 81:00.0  NVIDIA H100  32 GT/s x16  → NIC1\n");
}

TEST(Tree, ShowsEveryFunctionOnlyWhenAsked) {
  const Report report = test::two_node_machine().report();
  const std::string drive = "82:00.0  NVMe SSD Controller PM174X";
  EXPECT_EQ(tree_text(report, false, 0).find(drive), std::string::npos);
  EXPECT_NE(tree_text(report, true, 0).find("root port 80:02.0 ─ " + drive), std::string::npos);
  EXPECT_NE(tree_text(test::two_node_machine().report({"82:00.0"}), false, 0)
                .find("root port 80:02.0 ─ DEV0 " + drive),
            std::string::npos);
}

TEST(Tree, CountsTwoBridgesAsASwitchWhereNoPortSaysWhatItIs) {
  test::MadeUpMachine machine = test::two_node_machine();
  const std::string known = tree_text(machine.report(), false, 0);
  const host::PciTree all = machine.inventory.pci;
  for (const auto& [address, function] : all.functions()) {
    machine.inventory.pci.find(address)->kind = host::PciKind::kUnknown;
  }
  EXPECT_EQ(tree_text(machine.report(), false, 0), known);
}

TEST(Tree, KeepsAPortWithSeveralFunctionsBelowItOnALineOfItsOwn) {
  test::MadeUpMachine machine;
  machine.bridge("0000:00:01.0", "pci0000:00", host::PciKind::kRootPort, 0);
  machine.nic("mlx5_0", "0000:01:00.0", "0000:00:01.0", 0);
  machine.nic("mlx5_1", "0000:01:00.1", "0000:00:01.0", 0);
  EXPECT_EQ(tree_text(machine.report(), false, 0),
            "pci0000:00  NUMA node 0\n"
            "└─ root port 00:01.0\n"
            "   ├─ NIC0 01:00.0  mlx5_0  32 GT/s x16\n"
            "   └─ NIC1 01:00.1  mlx5_1  32 GT/s x16\n");
}

TEST(Tree, LeavesOutTheFirstDomainAlone) {
  EXPECT_EQ(short_address("0000:3b:00.0"), "3b:00.0");
  EXPECT_EQ(short_address("0101:00:00.0"), "0101:00:00.0");
}

TEST(Tree, DoesNotFollowAPathLongerThanAnyBusCanBe) {
  test::MadeUpMachine machine;
  machine.gpu("0000:01:00.0", "pci0000:00", 0);
  machine.inventory.gpus[0].pci->path.insert(machine.inventory.gpus[0].pci->path.begin() + 1, 5000,
                                             "0000:00:01.0");
  EXPECT_EQ(tree_text(machine.report(), false, 0), "");
}

TEST(Tree, GoesOnBetweenItsBranchesInANarrowTerminal) {
  const std::string text = tree_text(test::two_node_machine().report(), false, 50);
  EXPECT_EQ(text.substr(0, text.find("│  ├─ 02:01.0")),
            "pci0000:00  NUMA node 0\n"
            "├─ root port 00:01.0 ─ switch 01:00.0  1234:5678\n"
            "│  │ 32 GT/s x16\n"
            "│  ├─ 02:00.0 ─ GPU0 03:00.0  NVIDIA H100\n"
            "│  │    32 GT/s x16  → NIC0\n");
}

}  // namespace
}  // namespace gdr::topo
