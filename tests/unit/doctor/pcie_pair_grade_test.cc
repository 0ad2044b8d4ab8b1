#include "doctor/checks/pairs.h"
#include "found.h"

namespace gdr::doctor {
namespace {

using test::find;
using test::Machine;
using test::outcomes;
using test::says;

TEST(PairGradeCheck, IsWellWhereEachGpuHasANicBelowItsSwitch) {
  Machine machine;
  for (unsigned i = 1; i <= 7; ++i) machine.add_switch(i);
  const Findings found = find(kPairGrade, machine);
  EXPECT_EQ(outcomes(found), "ok");
  EXPECT_EQ(found[0].subject, "7 GPU-NIC pairs");
}

TEST(PairGradeCheck, WarnsWhereTheBestNicIsFar) {
  Machine machine;
  machine.add_switch(1);
  machine.find("0000:17:02.0").parent = "pci0000:80";
  machine.find("0000:17:02.0").kind = 4;
  const Findings node = find(kPairGrade, machine);
  EXPECT_EQ(outcomes(node), "warn");
  EXPECT_TRUE(says(node, "(NODE)"));
  EXPECT_TRUE(says(node, "NCCL_NET_GDR_LEVEL=PHB"));
  Machine far;
  far.add_switch(1);
  far.find("0000:17:02.0").parent = "pci0000:80";
  far.find("0000:17:02.0").kind = 4;
  far.find("0000:1a:00.0").node = 1;
  EXPECT_TRUE(says(find(kPairGrade, far), "(SYS)"));
}

TEST(PairGradeCheck, SaysThatNcclWantsToBeAskedForAHostBridge) {
  Machine machine;
  machine.add_switch(1);
  machine.find("0000:17:02.0").parent = "pci0000:15";
  machine.find("0000:17:02.0").kind = 4;
  const Findings found = find(kPairGrade, machine);
  EXPECT_EQ(outcomes(found), "ok");
  EXPECT_TRUE(says(found, "NCCL_NET_GDR_LEVEL=PHB"));
}

TEST(PairGradeCheck, IsUnknownInAVirtualMachine) {
  Machine machine;
  machine.add_switch(1);
  machine.write("proc/cpuinfo", "flags\t\t: fpu hypervisor\n");
  EXPECT_EQ(outcomes(find(kPairGrade, machine)), "unknown");
}

TEST(Pairs, PreferANicWithALinkAndShareThemOut) {
  Machine machine;
  machine.add_switch(1);
  auto second = machine.find("0000:1a:00.0");
  second.address = "0000:1a:00.1";
  machine.functions.push_back(second);
  auto gpu = machine.find("0000:19:00.0");
  gpu.address = "0000:19:00.1";
  machine.functions.push_back(gpu);
  auto nic = machine.nics.front();
  nic.name = "mlx5_9";
  nic.address = "0000:1a:00.1";
  machine.nics.push_back(nic);
  const auto best = [&] {
    machine.write_all();
    const host::Inventory inventory = host::take_inventory(host::Files(machine.root()));
    std::string names;
    for (const GpuPairs& pairs : pairs_of(inventory)) names += pairs.pairs.front().nic->name + " ";
    return names;
  };
  EXPECT_EQ(best(), "mlx5_1 mlx5_9 ");
  machine.nic("mlx5_1").state = "1: DOWN";
  EXPECT_EQ(best(), "mlx5_9 mlx5_9 ");
}

TEST(NumaNodeCheck, WarnsWhereTheKernelDoesNotKnowIt) {
  Machine machine;
  machine.add_switch(1);
  EXPECT_EQ(outcomes(find(kNumaNode, machine)), "ok");
  machine.find("0000:1a:00.0").node = -1;
  const Findings found = find(kNumaNode, machine);
  EXPECT_EQ(outcomes(found), "ok warn");
  EXPECT_EQ(found[1].subject, "mlx5_1");
  std::filesystem::remove_all(machine.root() + "/sys/devices/system/node/node1");
  EXPECT_EQ(outcomes(find(kNumaNode, machine)), "") << "one node only";
}

}  // namespace
}  // namespace gdr::doctor
