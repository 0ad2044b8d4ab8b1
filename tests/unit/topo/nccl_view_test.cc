#include "topo/nccl_view.h"

#include <gtest/gtest.h>

#include "made_up_machine.h"
#include "text/style.h"
#include "topo/output/text_report.h"

namespace gdr::topo {
namespace {

TEST(NcclView, TellsWhereNcclGradesOtherwiseAndWhy) {
  const Report report = test::two_node_machine().report();
  ASSERT_EQ(report.nccl_differences.size(), 1u);
  const NcclDifference& node = report.nccl_differences[0];
  EXPECT_EQ(node.ours, host::PciPath::kNode);
  EXPECT_EQ(node.theirs, host::NcclPath::kPhb);
  ASSERT_EQ(node.pairs.size(), 1u);
  EXPECT_EQ(report.devices[node.pairs[0].second].label, "NIC3");
  const std::string text = to_text(report, text::Style{}, {});
  EXPECT_NE(text.find("\nNCCL\n  NCCL calls NODE PHB, because it does not use NODE: GPU0-NIC3\n"),
            std::string::npos)
      << text;
}

TEST(NcclView, AdvisesWhereNcclWouldLeaveGpuDirectRdmaOut) {
  const Report report = test::two_node_machine().report();
  ASSERT_EQ(report.nccl_advice.size(), 1u);
  EXPECT_EQ(report.nccl_advice[0],
            "GPU1: SYS to the best NIC, so NCCL does not use GPUDirect RDMA unless you set "
            "NCCL_NET_GDR_LEVEL=SYS");
}

TEST(NcclView, AdvisesNothingOnAMadeUpTreeButADescription) {
  test::MadeUpMachine machine = test::two_node_machine();
  machine.inventory.flat = true;
  const Report report = machine.report();
  ASSERT_EQ(report.nccl_advice.size(), 1u);
  EXPECT_NE(report.nccl_advice[0].find("NCCL_TOPO_FILE"), std::string::npos);
}

// Ours is not known then, so that there is nothing to compare.
TEST(NcclView, TakesUnknownNodesForThoseOfOneCpuAsNcclDoes) {
  test::MadeUpMachine machine;
  machine.bridge("0000:00:01.0", "pci0000:00", host::PciKind::kRootPort);
  machine.bridge("0000:80:01.0", "pci0000:80", host::PciKind::kRootPort);
  machine.gpu("0000:01:00.0", "0000:00:01.0", -1);
  machine.nic("mlx5_0", "0000:81:00.0", "0000:80:01.0", -1);
  const Report report = machine.report();
  EXPECT_FALSE(report.matrix.at(0, 1).path);
  EXPECT_EQ(nccl_path(report.inventory, report.devices[0], report.devices[1]),
            host::NcclPath::kPhb);
  EXPECT_TRUE(report.nccl_differences.empty());
}

TEST(NcclView, IsEmptyWhereBothAgree) {
  test::MadeUpMachine machine = test::two_node_machine();
  machine.inventory.nics.resize(2);
  machine.inventory.gpus.resize(1);
  const Report report = machine.report();
  EXPECT_TRUE(report.nccl_differences.empty());
  EXPECT_TRUE(report.nccl_advice.empty());
}

}  // namespace
}  // namespace gdr::topo
