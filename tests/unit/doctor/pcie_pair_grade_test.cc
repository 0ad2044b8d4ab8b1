#include "doctor/checks/pairs.h"
#include "found.h"
#include "host/best_nic.h"

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

// gdr topo and gdr doctor must not name different NICs: both take what host chooses.
TEST(Pairs, BeginWithTheNicThatHostChooses) {
  Machine machine;
  for (unsigned i = 1; i <= 3; ++i) machine.add_switch(i);
  // A second port, up, of a card with a narrower link: an active port counts less than the link.
  auto narrow = machine.find("0000:1a:00.0");
  narrow.address = "0000:1a:01.0";
  narrow.width = 8;
  machine.functions.push_back(narrow);
  auto nic = machine.nics.front();
  nic.name = "mlx5_0";
  nic.address = narrow.address;
  machine.nics.push_back(nic);
  machine.nic("mlx5_1").state = "1: DOWN";
  machine.write_all();
  const host::Inventory inventory = host::take_inventory(host::Files(machine.root()));
  const auto choices = host::choose_nics(inventory);
  const auto pairs = pairs_of(inventory);
  ASSERT_EQ(pairs.size(), choices.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    EXPECT_EQ(pairs[i].pairs.front().nic, &inventory.nics[choices[i].nics.front().index]);
  }
  EXPECT_EQ(pairs[0].pairs.front().nic->name, "mlx5_1");
  EXPECT_EQ(pairs[0].pairs.size(), 2u) << "the other one below the switch is judged, too";
  EXPECT_TRUE(says(find(kPairGrade, machine),
                   "mlx5_1: as near as mlx5_0, with the faster link: 32 GT/s x16"));
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
