#include "topo/live.h"

#include <gtest/gtest.h>

#include "made_up_machine.h"

namespace gdr::topo {
namespace {

using cuda::NvLinkEnd;
using Kind = NvLinkEnd::Kind;

TEST(NvLinks, JoinStraightlyOrThroughSwitches) {
  const std::vector<GpuLinks> gpus = {
      {"0000:01:00.0", "", {{Kind::kGpu, "0000:02:00.0"}, {Kind::kGpu, "0000:02:00.0"}}},
      {"0000:02:00.0", "", {{Kind::kGpu, "0000:01:00.0"}, {Kind::kGpu, "0000:01:00.0"}}},
      {"0000:03:00.0", "", {{Kind::kSwitch, ""}, {Kind::kSwitch, ""}, {Kind::kSwitch, ""}}},
      {"0000:04:00.0", "", {{Kind::kSwitch, ""}, {Kind::kSwitch, ""}}}};
  const auto joined = join_links(gpus);
  ASSERT_EQ(joined.size(), 2u);
  EXPECT_EQ(joined[0].a + joined[0].b, "0000:01:00.00000:02:00.0");
  EXPECT_EQ(joined[0].count, 2u);
  EXPECT_EQ(joined[1].a, "0000:03:00.0");
  EXPECT_EQ(joined[1].count, 2u) << "the one that has fewer";
}

test::MadeUpMachine machine_of_the_fake_driver() {
  test::MadeUpMachine machine;
  machine.gpu("0000:3b:00.0", "pci0000:00", 0);
  machine.gpu("0000:4c:00.0", "pci0000:00", 0);
  return machine;
}

TEST(LiveMachine, HasWhatTheDriverKnows) {
  test::MadeUpMachine machine = machine_of_the_fake_driver();
  machine.inventory.unseen = {"NVLink between the GPUs: sysfs does not show it."};
  ask_driver(machine.inventory, std::chrono::seconds(10), GDR_FAKE_NVML);
  ASSERT_EQ(machine.inventory.nvlinks.size(), 1u);
  EXPECT_EQ(machine.inventory.nvlinks[0].count, 3u);
  EXPECT_EQ(machine.inventory.gpus[0].model, "NVIDIA H200");
  EXPECT_TRUE(machine.inventory.unseen.empty());
}

TEST(LiveMachine, IsNotAskedWithoutTheNvidiaDriver) {
  test::MadeUpMachine machine = machine_of_the_fake_driver();
  for (host::Gpu& gpu : machine.inventory.gpus) gpu.driver = "vfio-pci";
  ask_driver(machine.inventory, std::chrono::seconds(10), GDR_FAKE_NVML);
  EXPECT_TRUE(machine.inventory.nvlinks.empty());
  EXPECT_TRUE(machine.inventory.unseen.empty());
}

TEST(LiveMachine, SaysWhatADriverThatHangsDidNotTell) {
  test::MadeUpMachine machine = machine_of_the_fake_driver();
  ask_driver(machine.inventory, std::chrono::milliseconds(50), GDR_SLOW_NVML);
  ASSERT_EQ(machine.inventory.unseen.size(), 1u);
  EXPECT_EQ(machine.inventory.unseen[0], "NVLink between the GPUs: no answer in 1 s.");
}

TEST(LiveMachine, SaysThatThereIsNoLibrary) {
  test::MadeUpMachine machine = machine_of_the_fake_driver();
  ask_driver(machine.inventory, std::chrono::seconds(10), "libnvidia-ml-is-not-there.so");
  ASSERT_EQ(machine.inventory.unseen.size(), 1u);
  EXPECT_EQ(machine.inventory.unseen[0].find("NVLink between the GPUs: cannot load NVML: "), 0u);
}

}  // namespace
}  // namespace gdr::topo
