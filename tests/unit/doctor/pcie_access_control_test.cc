#include "found.h"

namespace gdr::doctor {
namespace {

using test::find;
using test::Machine;
using test::outcomes;
using test::says;

TEST(AccessControlCheck, IsWellWhereNoPortRedirects) {
  Machine machine;
  machine.add_switch(1);
  machine.add_switch(2);
  const Findings found = find(kAccessControl, machine);
  EXPECT_EQ(outcomes(found), "ok");
  EXPECT_EQ(found[0].subject, "2 GPU-NIC pairs");
  EXPECT_EQ(found[0].evidence.size(), 4u);
  EXPECT_TRUE(says(found, "/sys/bus/pci/devices/0000:17:01.0/config, ACS control=0x0000"));
}

TEST(AccessControlCheck, NamesExactlyThePortThatRedirectsAndTheCommandForIt) {
  Machine machine;
  machine.add_switch(1);
  machine.add_switch(2);
  machine.find("0000:37:02.0").acs_control = 0x1d;
  const Findings found = find(kAccessControl, machine);
  EXPECT_EQ(outcomes(found), "ok fail");
  EXPECT_EQ(found[1].subject, "GPU 0000:39:00.0 - mlx5_2");
  EXPECT_EQ(found[1].summary, "request redirect, completion redirect set at 0000:37:02.0");
  EXPECT_EQ(found[1].fix.now.command.text(), "sudo gdr fix acs --apply");
  EXPECT_EQ(found[1].fix.now.by_hand.text(), "sudo setpci -s 0000:37:02.0 ECAP_ACS+6.w=0000:002c");
  ASSERT_EQ(found[1].evidence.size(), 1u);
  EXPECT_EQ(found[1].evidence[0].value, "0x001d");
}

TEST(AccessControlCheck, IsOneFindingOfAllPairsWithTheSameBits) {
  Machine machine;
  machine.add_switch(1);
  machine.add_switch(2);
  for (const char* port : {"0000:17:02.0", "0000:37:02.0"}) machine.find(port).acs_control = 0x1d;
  const Findings found = find(kAccessControl, machine);
  EXPECT_EQ(outcomes(found), "fail");
  EXPECT_EQ(found[0].summary,
            "request redirect, completion redirect set at 0000:17:02.0 and 0000:37:02.0");
}

TEST(AccessControlCheck, LeavesOtherBitsAndOtherPortsAlone) {
  Machine machine;
  machine.add_switch(1);
  machine.find("0000:17:01.0").acs_control = 0x13;  // source validation, upstream forwarding
  machine.find("0000:15:01.0").acs_control = 0x1d;  // a root port above both
  EXPECT_EQ(outcomes(find(kAccessControl, machine)), "ok");
}

TEST(AccessControlCheck, IsUnknownWithoutRoot) {
  Machine machine;
  machine.add_switch(1);
  for (auto& function : machine.functions) function.config_size = 64;
  const Findings found = find(kAccessControl, machine);
  EXPECT_EQ(outcomes(found), "unknown");
  EXPECT_TRUE(says(found, "not in the capture"));
}

TEST(AccessControlCheck, SaysOfAPairThroughTheCpuThatPortsDoNotMatter) {
  Machine machine;
  machine.add_switch(1);
  machine.find("0000:1a:00.0").parent = "0000:15:01.0";
  machine.find("0000:17:01.0").parent = "pci0000:15";
  machine.find("0000:17:01.0").acs_control = 0x1d;
  const Findings found = find(kAccessControl, machine);
  EXPECT_EQ(outcomes(found), "ok");
  EXPECT_TRUE(says(found, "share no switch"));
}

TEST(AccessControlCheck, NeverAdvisesAVirtualMachineToClearIt) {
  Machine machine;
  machine.add_switch(1);
  machine.find("0000:17:01.0").acs_control = 0x1d;
  machine.write("proc/cpuinfo", "flags\t\t: fpu hypervisor\n");
  const Findings found = find(kAccessControl, machine);
  EXPECT_EQ(outcomes(found), "unknown");
  EXPECT_TRUE(says(found, "must stay on"));
  EXPECT_FALSE(says(found, "setpci"));
  EXPECT_FALSE(says(found, "gdr fix"));
}

TEST(AccessControlCheck, LeavesLayoutsWithRulesOfTheirOwnToRdmaTopo) {
  for (const std::uint16_t device : {0x2100, 0x197c}) {
    Machine machine;
    machine.add_switch(1);
    machine.find("0000:17:01.0").acs_control = 0x1d;
    machine.find("0000:16:00.0").vendor = 0x15b3;
    machine.find("0000:16:00.0").device = device;
    const Findings found = find(kAccessControl, machine);
    EXPECT_EQ(outcomes(found), "unknown");
    EXPECT_TRUE(says(found, "rdma_topo"));
    EXPECT_FALSE(says(found, "setpci"));
  }
}

TEST(AccessControlCheck, DoesNotApplyWithoutAPair) {
  Machine machine;
  EXPECT_EQ(outcomes(find(kAccessControl, machine)), "");
}

}  // namespace
}  // namespace gdr::doctor
