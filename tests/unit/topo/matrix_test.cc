#include "topo/matrix.h"

#include <gtest/gtest.h>

#include "made_up_machine.h"
#include "topo/output/matrix_text.h"

namespace gdr::topo {
namespace {

TEST(Matrix, HasEveryGradeAsNvidiaSmiLaysItOut) {
  const std::string text = matrix_text(test::two_node_machine().report({"82:00.0"}), 0);
  EXPECT_EQ(text.substr(0, text.find("Legend:")),
            "        GPU0    GPU1    NIC0    NIC1    NIC2    NIC3    DEV0    CPU Affinity    NUMA "
            "Affinity    GPU NUMA ID\n"
            "GPU0     X      SYS     PIX     PXB     PHB     NODE    SYS     0-31,64-95      0     "
            "           N/A\n"
            "GPU1    SYS      X      SYS     SYS     SYS     SYS     PHB     32-63,96-127    1     "
            "           N/A\n"
            "NIC0    PIX     SYS      X      PXB     PHB     NODE    SYS\n"
            "NIC1    PXB     SYS     PXB      X      PHB     NODE    SYS\n"
            "NIC2    PHB     SYS     PHB     PHB      X      NODE    SYS\n"
            "NIC3    NODE    SYS     NODE    NODE    NODE     X      SYS\n"
            "DEV0    SYS     PHB     SYS     SYS     SYS     SYS      X\n"
            "\n");
  EXPECT_NE(text.find("\nNIC Legend:\n\n  NIC0: mlx5_0\n  NIC1: mlx5_1\n"), std::string::npos);
  EXPECT_NE(text.find("\nDevice Legend:\n\n  DEV0: NVMe SSD Controller PM174X  0000:82:00.0\n"),
            std::string::npos);
}

TEST(Matrix, NamesNvLinksBetweenGpusInsteadOfTheirPathOverPci) {
  test::MadeUpMachine machine = test::two_node_machine();
  machine.inventory.nvlinks = {{"0000:81:00.0", "0000:03:00.0", 18}};
  const Report report = machine.report();
  EXPECT_EQ(report.matrix.at(0, 1).text(), "NV18");
  EXPECT_EQ(report.matrix.at(1, 0).text(), "NV18");
  EXPECT_EQ(report.matrix.at(1, 0).path, host::PciPath::kSys);
}

TEST(Matrix, DoesNotGuess) {
  test::MadeUpMachine machine = test::two_node_machine();
  machine.inventory.gpus[0].numa_node = -1;
  machine.inventory.gpus[1].pci.reset();
  machine.inventory.numa_nodes.clear();
  const Report report = machine.report();
  EXPECT_EQ(report.matrix.at(0, 1).text(), "N/A");
  EXPECT_EQ(affinity_of(report.inventory, report.devices[0]).node, "N/A");
  EXPECT_EQ(affinity_of(report.inventory, report.devices[1]).processors, "N/A");
  EXPECT_EQ(affinity_of(report.inventory, report.devices[1]).node, "1");
}

TEST(Matrix, HasTheOnlyNodeOfAMachineThatSaysNoneOfItsDevices) {
  test::MadeUpMachine machine = test::two_node_machine();
  machine.inventory.gpus[0].numa_node = -1;
  machine.inventory.numa_nodes.resize(1);
  const Report report = machine.report();
  EXPECT_EQ(affinity_of(report.inventory, report.devices[0]).processors, "0-31,64-95");
  EXPECT_EQ(affinity_of(report.inventory, report.devices[0]).node, "0");
}

TEST(Matrix, GoesOnInFurtherBlocksWhereTheTerminalIsNarrow) {
  test::MadeUpMachine machine = test::two_node_machine();
  for (int i = 0; i < 12; ++i) {
    const std::string number = std::to_string(10 + i);
    machine.bridge("0000:80:" + number + ".0", "pci0000:80", host::PciKind::kRootPort, 1);
    machine.nic("mlx5_" + number, "0000:" + number + ":00.0", "0000:80:" + number + ".0", 1);
  }
  const std::string text = matrix_text(machine.report(), 80);
  std::size_t blocks = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    EXPECT_LE(end - at, 80u) << text.substr(at, end - at);
    blocks += text.compare(at, 4, "GPU1") == 0;
    at = end + 1;
  }
  EXPECT_EQ(blocks, 3u);
}

}  // namespace
}  // namespace gdr::topo
