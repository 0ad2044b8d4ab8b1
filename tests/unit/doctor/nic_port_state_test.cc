#include "found.h"

namespace gdr::doctor {
namespace {

using test::find;
using test::Machine;
using test::outcomes;
using test::says;

TEST(PortStateCheck, IsWellWhereAllAreActive) {
  Machine machine;
  machine.add_switch(1);
  machine.add_switch(2);
  const Findings found = find(kPortState, machine);
  EXPECT_EQ(outcomes(found), "ok");
  EXPECT_EQ(found[0].subject, "2 NIC ports");
}

TEST(PortStateCheck, FailsWhereAGpuHasNoOtherNicAsNear) {
  Machine machine;
  machine.add_switch(1);
  machine.add_switch(2);
  machine.nic("mlx5_2").state = "1: DOWN";
  machine.nic("mlx5_2").physical = "2: Polling";
  const Findings found = find(kPortState, machine);
  EXPECT_EQ(outcomes(found), "ok fail");
  EXPECT_EQ(found[1].subject, "mlx5_2 port 1");
  EXPECT_EQ(found[1].summary, "no link");
  EXPECT_EQ(found[1].fix.now.command.text(), "sudo mlxlink -d 0000:3a:00.0");
}

TEST(PortStateCheck, SaysHowToSwitchAPortOn) {
  Machine machine;
  machine.add_switch(1);
  machine.nic("mlx5_1").state = "1: DOWN";
  machine.nic("mlx5_1").physical = "3: Disabled";
  const Findings found = find(kPortState, machine);
  EXPECT_EQ(outcomes(found), "fail");
  EXPECT_EQ(found[0].fix.now.command.text(), "sudo ip link set dev ens1np0 up");
}

// A second NIC below the first switch, on a card of its own.
void add_second_nic(Machine& machine, const std::string& address) {
  auto second = machine.find("0000:1a:00.0");
  second.address = address;
  machine.functions.push_back(second);
  auto nic = machine.nics.front();
  nic.name = "mlx5_9";
  nic.address = address;
  nic.state = "1: DOWN";
  nic.physical = "2: Polling";
  machine.nics.push_back(nic);
}

TEST(PortStateCheck, WarnsWhereAnotherNicAsNearRemains) {
  Machine machine;
  machine.add_switch(1);
  add_second_nic(machine, "0000:1a:01.0");
  EXPECT_EQ(outcomes(find(kPortState, machine)), "ok warn");
}

TEST(PortStateCheck, TakesTheUnusedPortOfACardForWell) {
  Machine machine;
  machine.add_switch(1);
  add_second_nic(machine, "0000:1a:00.1");
  const Findings found = find(kPortState, machine);
  EXPECT_EQ(outcomes(found), "ok ok");
  EXPECT_EQ(found[1].summary, "no link; the card's other port has one");
}

TEST(PortStateCheck, WarnsOfAPortSlowerThanItsPeers) {
  Machine machine;
  machine.add_switch(1);
  machine.add_switch(2);
  machine.nic("mlx5_2").rate = "200 Gb/sec (4X HDR)";
  const Findings found = find(kPortState, machine);
  EXPECT_EQ(outcomes(found), "ok warn");
  machine.nic("mlx5_2").board = "ANOTHER";
  EXPECT_EQ(outcomes(find(kPortState, machine)), "ok") << "another model";
}

TEST(PortStateCheck, IsSilentWhereNoStateIsKnown) {
  Machine machine;
  machine.add_switch(1);
  machine.nic("mlx5_1").state = "";
  EXPECT_EQ(outcomes(find(kPortState, machine)), "");
}

TEST(SubnetManagerCheck, FailsWhereAPortWaitsForOne) {
  Machine machine;
  machine.add_switch(1);
  EXPECT_EQ(outcomes(find(kSubnetManager, machine)), "") << "Ethernet has none";
  machine.nic("mlx5_1").link_layer = "InfiniBand";
  EXPECT_EQ(outcomes(find(kSubnetManager, machine)), "ok");
  machine.nic("mlx5_1").state = "2: INIT";
  const Findings found = find(kSubnetManager, machine);
  EXPECT_EQ(outcomes(found), "fail");
  EXPECT_TRUE(says(found, "opensm"));
  EXPECT_EQ(outcomes(find(kPortState, machine)), "") << "said once only";
}

}  // namespace
}  // namespace gdr::doctor
