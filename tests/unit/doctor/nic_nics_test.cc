#include "found.h"

namespace gdr::doctor {
namespace {

using test::find;
using test::Machine;
using test::outcomes;
using test::says;

TEST(NicsCheck, IsWellWithOneAndFailsWithNone) {
  Machine machine;
  machine.add_switch(1);
  EXPECT_EQ(outcomes(find(kNics, machine)), "ok");
  Machine empty;
  EXPECT_EQ(outcomes(find(kNics, empty)), "fail");
  EXPECT_TRUE(says(find(kNics, empty), "no RDMA NIC on this host"));
}

TEST(NicsCheck, FailsWithSoftwareDevicesOnly) {
  Machine machine;
  machine.write("sys/class/infiniband/rxe0/fw_ver", "\n");
  const Findings found = find(kNics, machine);
  EXPECT_EQ(outcomes(found), "fail");
  EXPECT_TRUE(says(found, "only software RDMA devices"));
}

TEST(NicsCheck, SaysWhyANicOnTheBusIsNoRdmaDevice) {
  Machine machine;
  machine.add_switch(1);
  machine.nics.clear();
  EXPECT_TRUE(says(find(kNics, machine), "has no RDMA device"));
  EXPECT_EQ(outcomes(find(kNics, machine)), "fail");
  machine.find("0000:1a:00.0").driver = "vfio-pci";
  EXPECT_EQ(outcomes(find(kNics, machine)), "ok");
  EXPECT_TRUE(says(find(kNics, machine), "reserved for a virtual machine"));
  Machine second;
  second.add_switch(1);
  second.add_switch(2);
  second.nics.pop_back();
  EXPECT_EQ(outcomes(find(kNics, second)), "ok warn");
}

TEST(NicsCheck, IsUnknownWhereTheSourceShowsNoDevices) {
  const Machine machine;
  std::filesystem::remove_all(machine.root() + "/sys");
  EXPECT_EQ(outcomes(test::find_below(kNics, machine.root())), "unknown");
}

TEST(NicFirmwareCheck, NamesTheNicThatDiffersFromMostOfItsModel) {
  Machine machine;
  for (unsigned i = 1; i <= 3; ++i) machine.add_switch(i);
  EXPECT_EQ(outcomes(find(kNicFirmware, machine)), "ok");
  machine.nic("mlx5_2").firmware = "28.36.1010";
  const Findings found = find(kNicFirmware, machine);
  EXPECT_EQ(outcomes(found), "warn ok");
  EXPECT_EQ(found[0].subject, "mlx5_2");
  EXPECT_EQ(found[0].summary, "firmware 28.36.1010, where others of MT_0000000838 run 28.39.1002");
  machine.nic("mlx5_2").board = "ANOTHER";
  EXPECT_EQ(outcomes(find(kNicFirmware, machine)), "ok");
}

}  // namespace
}  // namespace gdr::doctor
