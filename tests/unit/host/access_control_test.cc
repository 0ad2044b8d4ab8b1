#include "host/access_control.h"

#include <gtest/gtest.h>

#include "tree_maker.h"

namespace gdr::host {
namespace {

using test::TreeMaker;

constexpr std::uint16_t kAll = 0x7f;

// A GPU at 03:00.0 and NICs on the same switch (04:00.0), on a second one below it (07:00.0) and on
// another root port (08:00.0). Every bridge has ACS that does nothing, and an NVMe drive sits on
// the first switch.
TreeMaker guarded_machine() {
  TreeMaker make;
  make.add("0000:00:01.0", "pci0000:00", PciKind::kRootPort);
  make.add("0000:01:00.0", "0000:00:01.0", PciKind::kUpstream);
  for (const char* port : {"0000:02:00.0", "0000:02:01.0", "0000:02:02.0", "0000:02:03.0"}) {
    make.add(port, "0000:01:00.0", PciKind::kDownstream);
  }
  make.add("0000:03:00.0", "0000:02:00.0", PciKind::kEndpoint);
  make.add("0000:04:00.0", "0000:02:01.0", PciKind::kEndpoint);
  make.add("0000:05:00.0", "0000:02:02.0", PciKind::kUpstream);
  make.add("0000:06:00.0", "0000:05:00.0", PciKind::kDownstream);
  make.add("0000:07:00.0", "0000:06:00.0", PciKind::kEndpoint);
  make.add("0000:0a:00.0", "0000:02:03.0", PciKind::kEndpoint);
  make.add("0000:00:02.0", "pci0000:00", PciKind::kRootPort);
  make.add("0000:08:00.0", "0000:00:02.0", PciKind::kEndpoint);
  for (const auto& [address, unused] : make.tree.functions()) {
    PciFunction& function = *make.tree.find(address);
    function.configuration_read = true;
    if (function.kind == PciKind::kDownstream || function.kind == PciKind::kRootPort) {
      function.acs = AccessControl{0x148, kAll, 0};
    }
  }
  return make;
}

std::vector<PortOnPath> ports(const PciTree& tree, const std::string& nic) {
  return ports_between(tree, *tree.find("0000:03:00.0"), *tree.find(nic));
}

std::vector<std::string> addresses(const std::vector<PortOnPath>& ports) {
  std::vector<std::string> found;
  for (const PortOnPath& port : ports) found.push_back(port.address);
  return found;
}

TEST(AccessControl, IsJudgedAtTheDownstreamPortsBelowTheMeetingPoint) {
  const PciTree tree = guarded_machine().tree;
  EXPECT_EQ(addresses(ports(tree, "0000:04:00.0")),
            (std::vector<std::string>{"0000:02:00.0", "0000:02:01.0"}));
  EXPECT_EQ(addresses(ports(tree, "0000:07:00.0")),
            (std::vector<std::string>{"0000:02:00.0", "0000:02:02.0", "0000:06:00.0"}));
  EXPECT_EQ(judge_path(ports(tree, "0000:07:00.0")), PortJudgement::kClear);
}

TEST(AccessControl, DecidesNothingWhereTheWayGoesThroughTheCpu) {
  PciTree tree = guarded_machine().tree;
  for (const char* port : {"0000:02:00.0", "0000:00:01.0", "0000:00:02.0"}) {
    tree.find(port)->acs->control = kAll;
  }
  const auto found = ports(tree, "0000:08:00.0");
  EXPECT_EQ(addresses(found),
            (std::vector<std::string>{"0000:02:00.0", "0000:00:01.0", "0000:00:02.0"}));
  EXPECT_TRUE(found[1].is_root_port);
  for (const PortOnPath& port : found) {
    EXPECT_FALSE(port.decides);
    EXPECT_EQ(port.judgement, PortJudgement::kRedirects);
  }
  EXPECT_EQ(judge_path(found), PortJudgement::kClear);
}

TEST(AccessControl, IsNoConcernOfPortsThatServeOtherDevices) {
  PciTree tree = guarded_machine().tree;
  for (const char* other : {"0000:02:03.0", "0000:00:01.0", "0000:00:02.0"}) {
    tree.find(other)->acs->control = kAll;
  }
  EXPECT_EQ(judge_path(ports(tree, "0000:04:00.0")), PortJudgement::kClear);
}

TEST(AccessControl, RedirectsByRequestCompletionAndEgressAlone) {
  for (unsigned bit = 0; bit < 7; ++bit) {
    PciTree tree = guarded_machine().tree;
    tree.find("0000:02:01.0")->acs->control = static_cast<std::uint16_t>(1u << bit);
    const bool redirects = bit == 2 || bit == 3 || bit == 5;
    EXPECT_EQ(judge_path(ports(tree, "0000:04:00.0")),
              redirects ? PortJudgement::kRedirects : PortJudgement::kClear)
        << bit;
  }
}

TEST(AccessControl, CountsOnlyWhatThePortIsCapableOf) {
  PciTree tree = guarded_machine().tree;
  tree.find("0000:02:01.0")->acs = AccessControl{0x148, AccessControl::kSourceValidation, kAll};
  EXPECT_EQ(judge_path(ports(tree, "0000:04:00.0")), PortJudgement::kClear);
}

TEST(AccessControl, NamesTheBitsThatRedirect) {
  PciTree tree = guarded_machine().tree;
  tree.find("0000:02:01.0")->acs->control = 0x1d;
  const auto found = ports(tree, "0000:04:00.0");
  EXPECT_EQ(found[0].redirects, 0);
  EXPECT_EQ(names_of_access_control(found[1].redirects), "request redirect, completion redirect");
}

TEST(AccessControl, IsUnknownAndNeverClearIfUnreadable) {
  PciTree tree = guarded_machine().tree;
  PciFunction& port = *tree.find("0000:02:01.0");
  port.acs.reset();
  EXPECT_EQ(judge_path(ports(tree, "0000:04:00.0")), PortJudgement::kClear) << "it has no ACS";
  port.configuration_read = false;
  port.kind = PciKind::kUnknown;
  EXPECT_EQ(judge_path(ports(tree, "0000:04:00.0")), PortJudgement::kUnknown);
  tree.find("0000:02:00.0")->acs->control = AccessControl::kRequestRedirect;
  EXPECT_EQ(judge_path(ports(tree, "0000:04:00.0")), PortJudgement::kRedirects)
      << "what is known outweighs what is not";
}

TEST(AccessControl, FindsThePortsByTheirPlacesWhereNoKindIsKnown) {
  PciTree tree = guarded_machine().tree;
  for (const auto& [address, unused] : tree.functions()) {
    tree.find(address)->kind = PciKind::kUnknown;
  }
  EXPECT_EQ(addresses(ports(tree, "0000:07:00.0")),
            (std::vector<std::string>{"0000:02:00.0", "0000:02:02.0", "0000:06:00.0"}));
  const auto found = ports(tree, "0000:08:00.0");
  EXPECT_EQ(addresses(found),
            (std::vector<std::string>{"0000:02:00.0", "0000:00:01.0", "0000:00:02.0"}));
  EXPECT_TRUE(found[1].is_root_port && found[2].is_root_port);
}

TEST(AccessControl, HasNoPortsWhereAPathIsNotKnown) {
  PciTree tree = guarded_machine().tree;
  tree.find("0000:04:00.0")->path = {"0000:04:00.0"};
  EXPECT_TRUE(ports(tree, "0000:04:00.0").empty());
}

}  // namespace
}  // namespace gdr::host
