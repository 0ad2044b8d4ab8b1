#include "found.h"

namespace gdr::doctor {
namespace {

using test::find;
using test::Machine;
using test::outcomes;
using test::says;

TEST(GidCheck, IsWellWithARoutableOneOfVersionTwo) {
  Machine machine;
  machine.add_switch(1);
  const Findings found = find(kGid, machine);
  EXPECT_EQ(outcomes(found), "ok");
  EXPECT_TRUE(says(found, "/gids/1=0000:0000:0000:0000:0000:ffff:c0a8:0001, RoCE v2"));
}

TEST(GidCheck, FailsWithVersionOneOnlyAndWarnsOfLinkLocalOnly) {
  Machine machine;
  machine.add_switch(1);
  machine.nic("mlx5_1").gid_type = "IB/RoCE v1";
  EXPECT_EQ(outcomes(find(kGid, machine)), "fail");
  EXPECT_TRUE(says(find(kGid, machine), "ip address add ADDRESS/PREFIX dev ens1np0"));
  machine.nic("mlx5_1").gid_type = "RoCE v2";
  machine.nic("mlx5_1").gid = "fe80:0000:0000:0000:0e42:a1ff:fe00:0001";
  EXPECT_EQ(outcomes(find(kGid, machine)), "warn");
}

TEST(GidCheck, IsUnknownWhereTheVersionsAreNotShown) {
  Machine machine;
  machine.add_switch(1);
  machine.nic("mlx5_1").gid_type = "";
  machine.write_all();
  for (const char* index : {"0", "1"}) {
    std::filesystem::remove(machine.root() +
                            "/sys/class/infiniband/mlx5_1/ports/1/gid_attrs/types/" + index);
  }
  EXPECT_EQ(outcomes(test::find_below(kGid, machine.root())), "unknown");
}

TEST(GidCheck, WantsTheIndexInTheEnvironmentToNameOneOnEachNic) {
  Machine machine;
  machine.add_switch(1);
  EXPECT_EQ(outcomes(find(kGid, machine, {{"NCCL_IB_GID_INDEX", "1"}})), "ok ok");
  const Findings first = find(kGid, machine, {{"NCCL_IB_GID_INDEX", "0"}});
  EXPECT_EQ(outcomes(first), "ok fail");
  EXPECT_EQ(first[1].summary, "NCCL_IB_GID_INDEX=0 names a RoCE v1 GID");
  const Findings none = find(kGid, machine, {{"NCCL_IB_GID_INDEX", "3"}});
  EXPECT_EQ(outcomes(none), "ok fail");
  EXPECT_TRUE(none[1].fix.now.note.find("export NCCL_IB_GID_INDEX=1") != std::string::npos);
  EXPECT_EQ(outcomes(find(kGid, machine, {{"NCCL_IB_GID_INDEX", "-1"}})), "ok") << "the default";
}

TEST(GidCheck, LeavesInfinibandAndPortsWithoutALinkAlone) {
  Machine machine;
  machine.add_switch(1);
  machine.add_switch(2);
  machine.nic("mlx5_1").link_layer = "InfiniBand";
  machine.nic("mlx5_2").state = "1: DOWN";
  EXPECT_EQ(outcomes(find(kGid, machine)), "");
}

TEST(MtuCheck, KnowsThePathMtuThatAnInterfaceLeavesRoomFor) {
  Machine machine;
  machine.add_switch(1);
  EXPECT_EQ(outcomes(find(kMtu, machine)), "ok");
  machine.nic("mlx5_1").mtu = 4192;
  EXPECT_EQ(outcomes(find(kMtu, machine)), "ok");
  machine.nic("mlx5_1").mtu = 4191;
  EXPECT_TRUE(says(find(kMtu, machine), "packets of 2048 bytes"));
  machine.nic("mlx5_1").mtu = 1500;
  const Findings found = find(kMtu, machine);
  EXPECT_EQ(outcomes(found), "warn");
  EXPECT_EQ(found[0].summary, "MTU 1500: packets of 1024 bytes instead of 4096");
  EXPECT_EQ(found[0].fix.now.command.text(), "sudo ip link set dev ens1np0 mtu 4200");
}

TEST(MtuCheck, QuotesAHostileName) {
  Machine machine;
  machine.add_switch(1);
  machine.nic("mlx5_1").mtu = 1500;
  machine.nic("mlx5_1").netdev = "a;reboot";
  EXPECT_EQ(find(kMtu, machine)[0].fix.now.command.text(),
            "sudo ip link set dev 'a;reboot' mtu 4200");
}

}  // namespace
}  // namespace gdr::doctor
