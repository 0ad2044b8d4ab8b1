#include "found.h"

namespace gdr::doctor {
namespace {

using test::find;
using test::Machine;
using test::outcomes;
using test::says;

TEST(LinkCheck, PassesIfEachHopRunsAtTheBestOfBothEnds) {
  Machine machine;
  machine.add_switch(1);
  // A card of generation 4 in a slot of generation 5, as lspci's "downgraded".
  machine.find("0000:1a:00.0").speed = machine.find("0000:1a:00.0").most_speed = "16.0";
  const Findings found = find(kLink, machine);
  EXPECT_EQ(outcomes(found), "ok");
  EXPECT_EQ(found[0].subject, "3 links");
}

TEST(LinkCheck, WarnsOfANarrowLinkAndNamesItsEnds) {
  Machine machine;
  machine.add_switch(1);
  machine.find("0000:19:00.0").width = 8;
  const Findings found = find(kLink, machine);
  EXPECT_EQ(outcomes(found), "warn ok");
  EXPECT_EQ(found[0].subject, "GPU 0000:19:00.0");
  EXPECT_EQ(found[0].summary,
            "link 0000:17:01.0 to 0000:19:00.0 runs at 32 GT/s x8 of 32 GT/s x16");
  EXPECT_TRUE(says(found, "about 50 %"));
}

TEST(LinkCheck, WarnsOfASlowHopBetweenTheSwitchAndTheCpu) {
  Machine machine;
  machine.add_switch(1);
  machine.find("0000:16:00.0").speed = "8.0";
  const Findings found = find(kLink, machine);
  EXPECT_EQ(outcomes(found), "ok warn");
  EXPECT_TRUE(says(found, "link 0000:15:01.0 to 0000:16:00.0 runs at 8 GT/s x16"));
}

TEST(LinkCheck, TakesAGpuAtLowSpeedAndFullWidthForAnIdleOne) {
  Machine machine;
  machine.add_switch(1);
  machine.find("0000:19:00.0").speed = "2.5";
  const Findings found = find(kLink, machine);
  EXPECT_EQ(outcomes(found), "unknown ok");
  EXPECT_TRUE(says(found, "idle?"));
  machine.find("0000:1a:00.0").speed = "2.5";
  EXPECT_EQ(outcomes(find(kLink, machine)), "unknown ok warn") << "a NIC never slows down";
}

TEST(LinkCheck, IsUnknownWithoutDataOrUnderAHypervisor) {
  Machine machine;
  machine.add_switch(1);
  for (auto& function : machine.functions) function.speed = "Unknown";
  EXPECT_EQ(outcomes(find(kLink, machine)), "unknown");
  Machine guest;
  guest.add_switch(1);
  guest.find("0000:1a:00.0").width = 1;
  guest.write("proc/cpuinfo", "flags\t\t: fpu hypervisor\n");
  EXPECT_EQ(outcomes(find(kLink, guest)), "unknown");
}

TEST(LinkCheck, CountsTheLinkOfADualPortCardOnce) {
  Machine machine;
  machine.add_switch(1);
  auto second = machine.find("0000:1a:00.0");
  second.address = "0000:1a:00.1";
  machine.functions.push_back(second);
  auto nic = machine.nics.front();
  nic.name = "mlx5_9";
  nic.address = "0000:1a:00.1";
  machine.nics.push_back(nic);
  EXPECT_EQ(find(kLink, machine)[0].subject, "3 links");
}

}  // namespace
}  // namespace gdr::doctor
