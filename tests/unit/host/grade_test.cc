#include "host/grade.h"

#include <gtest/gtest.h>

#include "described.h"
#include "host/access_control.h"
#include "host/nccl_grade.h"
#include "tree_maker.h"

namespace gdr::host {
namespace {

using test::TreeMaker;

// Two switches in a row below 00:01.0, with 03:00.0 and 04:00.0 on the first and 07:00.0 on the
// second; 08:00.0 on another root port; 21:00.0 on another host bridge; 81:00.0 on another node.
TreeMaker machine(PciKind upstream = PciKind::kUpstream,
                  PciKind downstream = PciKind::kDownstream) {
  TreeMaker make;
  make.add("0000:00:01.0", "pci0000:00", PciKind::kRootPort);
  make.add("0000:01:00.0", "0000:00:01.0", upstream);
  make.add("0000:02:00.0", "0000:01:00.0", downstream);
  make.add("0000:02:01.0", "0000:01:00.0", downstream);
  make.add("0000:02:02.0", "0000:01:00.0", downstream);
  make.add("0000:03:00.0", "0000:02:00.0", PciKind::kEndpoint);
  make.add("0000:04:00.0", "0000:02:01.0", PciKind::kEndpoint);
  make.add("0000:04:00.1", "0000:02:01.0", PciKind::kEndpoint);
  make.add("0000:05:00.0", "0000:02:02.0", upstream);
  make.add("0000:06:00.0", "0000:05:00.0", downstream);
  make.add("0000:06:01.0", "0000:05:00.0", downstream);
  make.add("0000:07:00.0", "0000:06:00.0", PciKind::kEndpoint);
  make.add("0000:09:00.0", "0000:06:01.0", PciKind::kEndpoint);
  make.add("0000:00:02.0", "pci0000:00", PciKind::kRootPort);
  make.add("0000:08:00.0", "0000:00:02.0", PciKind::kEndpoint);
  make.add("0000:20:01.0", "pci0000:20", PciKind::kRootPort);
  make.add("0000:21:00.0", "0000:20:01.0", PciKind::kEndpoint);
  make.add("0000:80:01.0", "pci0000:80", PciKind::kRootPort, 1);
  make.add("0000:81:00.0", "0000:80:01.0", PciKind::kEndpoint, 1);
  return make;
}

void expect_all_grades(const PciTree& tree) {
  EXPECT_EQ(grade(tree, "0000:03:00.0", "0000:04:00.0"), "PIX");
  EXPECT_EQ(grade(tree, "0000:04:00.0", "0000:04:00.1"), "PIX");
  EXPECT_EQ(grade(tree, "0000:07:00.0", "0000:09:00.0"), "PIX");
  EXPECT_EQ(grade(tree, "0000:03:00.0", "0000:07:00.0"), "PXB");
  EXPECT_EQ(grade(tree, "0000:03:00.0", "0000:08:00.0"), "PHB");
  EXPECT_EQ(grade(tree, "0000:03:00.0", "0000:21:00.0"), "NODE");
  EXPECT_EQ(grade(tree, "0000:03:00.0", "0000:81:00.0"), "SYS");
}

TEST(PciPath, IsGradedByThePortsKinds) { expect_all_grades(machine().tree); }

TEST(PciPath, IsGradedByCountingWhereKindsAreNotKnown) {
  expect_all_grades(machine(PciKind::kUnknown, PciKind::kUnknown).tree);
}

// An endpoint right below a switch's internal bus: counting alone sees two switches.
TEST(PciPath, BelievesKindsMoreThanCounting) {
  TreeMaker make;
  make.add("0000:00:01.0", "pci0000:00", PciKind::kRootPort);
  make.add("0000:01:00.0", "0000:00:01.0", PciKind::kUpstream);
  make.add("0000:02:00.0", "0000:01:00.0", PciKind::kDownstream);
  make.add("0000:03:00.0", "0000:02:00.0", PciKind::kBridge);
  make.add("0000:04:00.0", "0000:03:00.0", PciKind::kEndpoint);
  make.add("0000:04:01.0", "0000:03:00.0", PciKind::kEndpoint);
  make.add("0000:02:01.0", "0000:01:00.0", PciKind::kEndpoint);
  EXPECT_EQ(grade(make.tree, "0000:04:00.0", "0000:04:01.0"), "PIX");
  EXPECT_EQ(grade(make.tree, "0000:04:00.0", "0000:02:01.0"), "PXB");
}

// The other one may be on the same node, or on another.
TEST(PciPath, IsUnknownBehindTwoHostBridgesWithAnUnknownNode) {
  TreeMaker make;
  make.add("0000:01:00.0", "pci0000:00", PciKind::kEndpoint, -1);
  make.add("0000:21:00.0", "pci0000:20", PciKind::kEndpoint, -1);
  EXPECT_EQ(grade(make.tree, "0000:01:00.0", "0000:21:00.0"), "unknown");
  make.tree.set_only_node(0);
  EXPECT_EQ(grade(make.tree, "0000:01:00.0", "0000:21:00.0"), "NODE");
}

TEST(NcclPath, HasNoNodeAndKnowsPortsOfOneCardAsOneDevice) {
  const PciTree tree = machine().tree;
  EXPECT_EQ(nccl_grade(tree, "0000:04:00.0", "0000:04:00.1"), "LOC");
  EXPECT_EQ(nccl_grade(tree, "0000:03:00.0", "0000:04:00.1"), "PIX");
  EXPECT_EQ(nccl_grade(tree, "0000:03:00.0", "0000:07:00.0"), "PXB");
  EXPECT_EQ(nccl_grade(tree, "0000:03:00.0", "0000:08:00.0"), "PHB");
  EXPECT_EQ(nccl_grade(tree, "0000:03:00.0", "0000:21:00.0"), "PHB") << "nvidia-smi: NODE";
  EXPECT_EQ(nccl_grade(tree, "0000:03:00.0", "0000:81:00.0"), "SYS");
}

TEST(NcclPath, DecidesTheDefaultUseOfGpudirect) {
  EXPECT_TRUE(nccl_uses_gdr(NcclPath::kPix));
  EXPECT_TRUE(nccl_uses_gdr(NcclPath::kPxb));
  EXPECT_FALSE(nccl_uses_gdr(NcclPath::kPhb));
  EXPECT_FALSE(nccl_uses_gdr(NcclPath::kSys));
}

TEST(NcclPath, TakesTwoLevelsOfABroadcomSwitchForOne) {
  struct {
    std::uint16_t device, subsystem_above, subsystem_below;
    const char* expected;
  } const cases[] = {
      {0xc010, 0xa001, 0xa002, "PIX"},  // generation 4
      {0xc030, 0x0001, 0x1002, "PIX"},  // generation 5
      {0xc030, 0x1001, 0x0002, "PXB"},  // the levels the wrong way round
      {0xc010, 0xb001, 0xa002, "PXB"},  // a switch in another mode
      {0x8749, 0xa001, 0xa002, "PXB"},
  };
  for (const auto& one : cases) {
    PciTree tree = machine().tree;
    for (const auto& [address, subsystem] :
         {std::pair("0000:01:00.0", one.subsystem_above), {"0000:05:00.0", one.subsystem_below}}) {
      PciFunction& port = *tree.find(address);
      port.vendor = port.subsystem_vendor = 0x1000;
      port.device = one.device;
      port.subsystem_device = subsystem;
    }
    EXPECT_EQ(nccl_grade(tree, "0000:03:00.0", "0000:07:00.0"), one.expected)
        << one.subsystem_above;
    EXPECT_EQ(grade(tree, "0000:03:00.0", "0000:07:00.0"), "PXB") << "nvidia-smi sees two";
  }
}

TEST(NcclPath, MergesEachBroadcomSwitchOnce) {
  TreeMaker make;
  make.add("0000:00:01.0", "pci0000:00", PciKind::kRootPort);
  std::string above = "0000:00:01.0";
  for (const char* bus : {"1", "3", "5"}) {  // three levels, a device on the first and the last
    const std::string upstream = std::string("0000:0") + bus + ":00.0";
    const std::string inner = std::string("0000:0") + static_cast<char>(bus[0] + 1);
    make.add(upstream, above, PciKind::kUpstream);
    make.add(inner + ":00.0", upstream, PciKind::kDownstream);
    make.add(inner + ":01.0", upstream, PciKind::kDownstream);
    PciFunction& port = *make.tree.find(upstream);
    port.vendor = port.subsystem_vendor = 0x1000;
    port.device = 0xc010;
    port.subsystem_device = 0xa000;
    above = inner + ":00.0";
  }
  make.add("0000:10:00.0", "0000:02:01.0", PciKind::kEndpoint);
  make.add("0000:11:00.0", "0000:04:01.0", PciKind::kEndpoint);
  make.add("0000:12:00.0", "0000:06:01.0", PciKind::kEndpoint);
  EXPECT_EQ(nccl_grade(make.tree, "0000:10:00.0", "0000:11:00.0"), "PIX");
  EXPECT_EQ(nccl_grade(make.tree, "0000:10:00.0", "0000:12:00.0"), "PXB");
}

// The domain of an Intel VMD has five digits; NCCL takes such an address for the CPU.
TEST(NcclPath, EndsBelowADomainThatNcclCannotRead) {
  TreeMaker make;
  make.add("0000:00:0e.0", "pci0000:00", PciKind::kEndpoint);
  make.add("10000:e0:06.0", "0000:00:0e.0", PciKind::kRootPort);
  make.add("10000:e1:00.0", "10000:e0:06.0", PciKind::kUpstream);
  make.add("10000:e2:00.0", "10000:e1:00.0", PciKind::kDownstream);
  make.add("10000:e2:01.0", "10000:e1:00.0", PciKind::kDownstream);
  make.add("10000:e3:00.0", "10000:e2:00.0", PciKind::kEndpoint);
  make.add("10000:e4:00.0", "10000:e2:01.0", PciKind::kEndpoint);
  EXPECT_EQ(grade(make.tree, "10000:e3:00.0", "10000:e4:00.0"), "PIX");
  EXPECT_EQ(nccl_grade(make.tree, "10000:e3:00.0", "10000:e4:00.0"), "PHB");
}

}  // namespace
}  // namespace gdr::host
