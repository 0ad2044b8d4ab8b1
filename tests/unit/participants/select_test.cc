#include "participants/select.h"

#include <gtest/gtest.h>

namespace gdr::participants {
namespace {

NicEntry nic(const std::string& name, int numa = -1, bool active = true,
             const std::string& netdev = "") {
  NicEntry entry;
  entry.survey.name = name;
  NicPort port;
  port.number = 1;
  port.active = active;
  port.ethernet = true;
  entry.survey.ports.push_back(port);
  if (numa >= 0) {
    host::Nic hardware;
    hardware.name = name;
    hardware.numa_node = numa;
    hardware.pci_address = "0000:0a:00.0";
    host::Port known;
    known.number = 1;
    known.netdev = netdev;
    hardware.ports.push_back(known);
    entry.hardware = hardware;
  }
  return entry;
}

GpuEntry gpu(int ordinal, int numa = -1) {
  GpuEntry entry;
  entry.survey.ordinal = ordinal;
  entry.survey.pci_address = "0000:4" + std::to_string(ordinal) + ":00.0";
  if (numa >= 0) {
    entry.hardware = host::Gpu{};
    entry.hardware->numa_node = numa;
  }
  return entry;
}

InventoryReport machine(std::vector<NicEntry> nics, std::vector<GpuEntry> gpus) {
  InventoryReport inventory;
  inventory.nics = std::move(nics);
  inventory.gpus = std::move(gpus);
  return inventory;
}

TEST(Select, TakesTwoNicsAndTheFirstGpu) {
  auto chosen = select_devices(machine({nic("soft0"), nic("soft1")}, {gpu(0), gpu(1)}), {});
  ASSERT_TRUE(chosen);
  ASSERT_EQ(chosen->size(), 1u);
  EXPECT_EQ(chosen->front().near.nic, "soft0");
  EXPECT_EQ(chosen->front().far.nic, "soft1");
  EXPECT_EQ(chosen->front().far_gpu, 0);
}

TEST(Select, NeedsNoGpuForHostMemory) {
  InventoryReport inventory = machine({nic("rxe0"), nic("rxe1")}, {});
  inventory.host_memory_only = true;
  auto chosen = select_devices(inventory, {});
  ASSERT_TRUE(chosen);
  ASSERT_EQ(chosen->size(), 1u);
  EXPECT_EQ(chosen->front().near.nic, "rxe0");
  EXPECT_EQ(chosen->front().far.nic, "rxe1");
  EXPECT_EQ(chosen->front().far_gpu_text, "");
}

TEST(Select, PutsTheNicOfTheGpusOwnNodeBesideTheGpu) {
  auto chosen = select_devices(machine({nic("mlx5_0", 0), nic("mlx5_1", 1)}, {gpu(0, 0)}), {});
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->front().far.nic, "mlx5_0");
  EXPECT_EQ(chosen->front().near.nic, "mlx5_1");
}

TEST(Select, ProvesOneNicAgainstItself) {
  auto chosen = select_devices(machine({nic("mlx5_0")}, {gpu(0)}), {});
  ASSERT_TRUE(chosen);
  EXPECT_TRUE(chosen->front().near == chosen->front().far);
}

TEST(Select, LeavesOutPortsWhoseLinkIsDown) {
  auto chosen = select_devices(machine({nic("a"), nic("b", -1, false), nic("c")}, {gpu(0)}), {});
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->front().near.nic, "a");
  EXPECT_EQ(chosen->front().far.nic, "c");
  EXPECT_EQ(select_devices(machine({nic("b", -1, false)}, {gpu(0)}), {}).error().code, ENODEV);
}

TEST(Select, FindsANicByEveryNameItHas) {
  const auto inventory = machine({nic("mlx5_0", 0, true, "ens1f0"), nic("soft1")}, {gpu(0)});
  for (const char* name : {"mlx5_0", "mlx5_0:1", "ens1f0", "0000:0a:00.0", "0000:0A:00.0"}) {
    DeviceWishes wishes;
    wishes.nic = name;
    auto chosen = select_devices(inventory, wishes);
    ASSERT_TRUE(chosen) << name;
    EXPECT_EQ(chosen->front().near.nic, "mlx5_0");
    EXPECT_EQ(chosen->front().far.nic, "soft1");
  }
}

TEST(Select, FindsAGpuByEveryNameInEitherCase) {
  GpuEntry second = gpu(1);
  second.survey.pci_address = "fffe:0a:00.0";
  second.survey.uuid = "GPU-6764726b-6974-2d73-6f66-742d67707501";
  const auto inventory = machine({nic("soft0"), nic("soft1")}, {gpu(0), second});
  for (const char* name :
       {"1", "fffe:0a:00.0", "FFFE:0A:00.0", "GPU-6764726b-6974-2d73-6f66-742d67707501",
        "gpu-6764726B-6974-2D73-6F66-742D67707501"}) {
    DeviceWishes wishes;
    wishes.gpu = name;
    auto chosen = select_devices(inventory, wishes);
    ASSERT_TRUE(chosen) << name;
    EXPECT_EQ(chosen->front().far_gpu, 1) << name;
  }
}

TEST(Select, TakesThePciAddressAsNvidiaSmiPrintsIt) {
  DeviceWishes wishes;
  wishes.gpu = "00000000:41:00.0";
  auto chosen = select_devices(machine({nic("a"), nic("b")}, {gpu(0), gpu(1)}), wishes);
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->front().far_gpu, 1);
}

TEST(Select, SaysThatThePortIsWrongAndWhichThereAre) {
  NicEntry two = nic("mlx5_0");
  two.survey.ports.push_back(two.survey.ports.front());
  two.survey.ports.back().number = 2;
  const auto inventory = machine({two, nic("mlx5_1")}, {gpu(0)});
  for (const std::string port : {"3", "x", ""}) {
    DeviceWishes wishes;
    wishes.nic = "mlx5_0:" + port;
    const auto chosen = select_devices(inventory, wishes);
    ASSERT_FALSE(chosen);
    EXPECT_EQ(chosen.error().code, EINVAL);
    EXPECT_EQ(chosen.error().message, "unknown port '" + port + "' in 'mlx5_0:" + port +
                                          "': NIC mlx5_0 has no such port; allowed: mlx5_0:1, "
                                          "mlx5_0:2");
  }
}

TEST(Select, NamesAnUnknownDeviceAndWhatThereIs) {
  const auto inventory = machine({nic("soft0"), nic("soft1")}, {gpu(0)});
  DeviceWishes wishes;
  wishes.nic = "mlx9_0";
  EXPECT_EQ(select_devices(inventory, wishes).error().message,
            "unknown NIC 'mlx9_0'; allowed: soft0, soft1");
  wishes.nic.reset();
  wishes.gpu = "7";
  const auto chosen = select_devices(inventory, wishes);
  ASSERT_FALSE(chosen);
  EXPECT_EQ(chosen.error().code, EINVAL);
  EXPECT_EQ(chosen.error().message, "unknown GPU '7'; allowed: 0 (0000:40:00.0)");
}

TEST(Select, TakesOneGpuForBothProcessesUnlessAskedForTwo) {
  const auto inventory = machine({nic("a"), nic("b")}, {gpu(0), gpu(1), gpu(2)});
  DeviceWishes wishes;
  wishes.gpu = "1";
  auto one = select_devices(inventory, wishes);
  ASSERT_TRUE(one);
  EXPECT_FALSE(one->front().has_two_gpus());
  EXPECT_EQ(one->front().near_gpu, 1);
  for (const char* name : {"2", "0000:42:00.0", "00000000:42:00.0"}) {
    wishes.from_gpu = name;
    auto two = select_devices(inventory, wishes);
    ASSERT_TRUE(two) << name;
    ASSERT_EQ(two->size(), 1u);
    EXPECT_TRUE(two->front().has_two_gpus());
    EXPECT_EQ(two->front().near_gpu, 2);
    EXPECT_EQ(two->front().near_gpu_text, "GPU 2");
    EXPECT_EQ(two->front().far_gpu, 1);
    EXPECT_EQ(two->front().far_gpu_text, "GPU 1");
  }
}

TEST(Select, PutsTheNicOfItsOwnNodeBesideEachOfTwoGpus) {
  const auto inventory = machine({nic("mlx5_0", 0), nic("mlx5_1", 1), nic("mlx5_2", 2)},
                                 {gpu(0, 0), gpu(1, 1), gpu(2, 2)});
  DeviceWishes wishes;
  wishes.gpu = "0";
  for (int from : {1, 2}) {
    wishes.from_gpu = std::to_string(from);
    auto chosen = select_devices(inventory, wishes);
    ASSERT_TRUE(chosen);
    EXPECT_EQ(chosen->front().near.nic, "mlx5_" + std::to_string(from));
    EXPECT_EQ(chosen->front().far.nic, "mlx5_0");
  }
}

TEST(Select, NamesAnUnknownFirstGpuAndWhatThereIs) {
  DeviceWishes wishes;
  wishes.from_gpu = "0000:99:00.0";
  const auto chosen = select_devices(machine({nic("a")}, {gpu(0)}), wishes);
  ASSERT_FALSE(chosen);
  EXPECT_EQ(chosen.error().code, EINVAL);
  EXPECT_EQ(chosen.error().message, "unknown GPU '0000:99:00.0'; allowed: 0 (0000:40:00.0)");
}

// "0>1" where GPU 0 is beside the NIC that starts, and GPU 1 beside the other.
std::vector<std::string> gpu_pairs(const std::vector<Selection>& selections) {
  std::vector<std::string> pairs;
  for (const Selection& selection : selections) {
    pairs.push_back(std::to_string(selection.near_gpu) + ">" + std::to_string(selection.far_gpu));
  }
  return pairs;
}

TEST(Select, AllTakesEveryGpuWithEveryNicAndThenEachPairOfGpusOnce) {
  DeviceWishes wishes;
  wishes.all = true;
  const auto inventory = machine({nic("a"), nic("b")}, {gpu(0), gpu(1), gpu(2)});
  auto chosen = select_devices(inventory, wishes);
  ASSERT_TRUE(chosen);
  for (const Selection& selection : *chosen) EXPECT_FALSE(selection.near == selection.far);
  EXPECT_EQ(gpu_pairs(*chosen), (std::vector<std::string>{"0>0", "0>0", "1>1", "1>1", "2>2", "2>2",
                                                          "0>1", "0>2", "1>2"}));
  wishes.from_gpu = "1";
  chosen = select_devices(inventory, wishes);
  ASSERT_TRUE(chosen);
  EXPECT_EQ(gpu_pairs(*chosen),
            (std::vector<std::string>{"1>0", "1>0", "1>1", "1>1", "1>2", "1>2"}));
  wishes.from_gpu.reset();
  wishes.gpu = "2";
  chosen = select_devices(inventory, wishes);
  ASSERT_TRUE(chosen);
  EXPECT_EQ(gpu_pairs(*chosen), (std::vector<std::string>{"2>2", "2>2"}));
}

NicEntry unopened(const std::string& name) {
  NicEntry entry;
  entry.survey.name = name;
  entry.survey.problem = "ibv_open_device(" + name + "): Cannot allocate memory (errno 12)";
  return entry;
}

TEST(Select, SaysWhyNoNicCouldBeOpenedAndNotThatItsLinkIsDown) {
  const InventoryReport devices = machine({unopened("soft0"), unopened("soft1")}, {gpu(0)});
  const auto any = select_devices(devices, {});
  ASSERT_FALSE(any);
  EXPECT_EQ(any.error().code, ENODEV);
  EXPECT_NE(any.error().message.find("soft0: ibv_open_device(soft0)"), std::string::npos)
      << any.error().message;
  for (const char* name : {"soft1", "soft1:1"}) {
    DeviceWishes wishes;
    wishes.nic = name;
    const auto named = select_devices(devices, wishes);
    ASSERT_FALSE(named);
    EXPECT_EQ(named.error().code, ENODEV) << "it is there, so the name is right";
    EXPECT_NE(named.error().message.find("Cannot allocate memory"), std::string::npos)
        << named.error().message;
  }
}

TEST(Select, SaysThatALinkIsDownWhereItIs) {
  const auto chosen = select_devices(machine({nic("mlx5_0", 0, false)}, {gpu(0)}), {});
  ASSERT_FALSE(chosen);
  EXPECT_NE(chosen.error().message.find("mlx5_0: its link is down"), std::string::npos)
      << chosen.error().message;
}

}  // namespace
}  // namespace gdr::participants
