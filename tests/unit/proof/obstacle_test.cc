#include "proof/obstacle.h"

#include <gtest/gtest.h>

namespace gdr::proof {
namespace {

bool mentions(const std::vector<std::string>& lines, const std::string& words) {
  for (const std::string& line : lines) {
    if (line.find(words) != std::string::npos) return true;
  }
  return false;
}

// A machine with everything, and what its libraries found.
MachineFacts whole_machine() { return {true, true, true, true, true}; }
InventoryReport whole_inventory() {
  InventoryReport inventory;
  inventory.verbs_path = "/lib/libibverbs.so.1";
  inventory.cuda_path = "/lib/libcuda.so.1";
  inventory.nics.emplace_back();
  inventory.gpus.emplace_back();
  return inventory;
}

TEST(MissingHardware, IsNoneWhereEverythingIsThere) {
  EXPECT_FALSE(missing_hardware(whole_machine(), whole_inventory(), true));
  EXPECT_FALSE(missing_hardware(whole_machine(), whole_inventory(), false));
}

TEST(MissingHardware, NamesEveryPartThatWasRequiredAndTheCausesOfEach) {
  InventoryReport nothing;
  nothing.verbs_path = "/lib/libibverbs.so.1";
  nothing.cuda_problem = "cannot load libcuda.so.1";
  const auto obstacle = missing_hardware({}, nothing, true);
  ASSERT_TRUE(obstacle);
  ASSERT_EQ(obstacle->seen.size(), 2u);
  EXPECT_TRUE(mentions(obstacle->seen, "a real GPU is required"));
  EXPECT_TRUE(mentions(obstacle->seen, "a real RDMA NIC is required"));
  for (const char* cause : {"modprobe nvidia)", "--gpus all", "libcuda.so.1", "modprobe mlx5_ib",
                            "/dev/infiniband is missing or empty"}) {
    EXPECT_TRUE(mentions(obstacle->causes, cause)) << cause;
  }
  EXPECT_FALSE(mentions(obstacle->causes, "libibverbs1")) << "that library was found";
  EXPECT_NE(obstacle->next.text().find("nvidia-smi"), std::string::npos);
  EXPECT_NE(obstacle->next.text().find("ibv_devinfo"), std::string::npos);
}

InventoryReport with_stand_ins(bool nic, bool gpu) {
  InventoryReport inventory = whole_inventory();
  inventory.soft_nic = nic;
  inventory.soft_gpu = gpu;
  return inventory;
}

TEST(ReplacedHardware, IsNoneWhereTheMachineHasEverythingOrNothing) {
  EXPECT_FALSE(replaced_hardware(whole_machine(), whole_inventory()));
  EXPECT_FALSE(replaced_hardware({}, with_stand_ins(true, true)));
}

TEST(ReplacedHardware, IsThePartThatAGpuHostLacks) {
  MachineFacts machine = whole_machine();
  machine.nic = machine.nic_nodes = false;
  const auto lost = replaced_hardware(machine, with_stand_ins(true, false));
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->seen, std::vector<std::string>{"this machine has no RDMA device"});
  EXPECT_TRUE(mentions(lost->causes, "NIC: its RDMA driver is not loaded"));
  EXPECT_FALSE(mentions(lost->causes, "GPU:"));
  EXPECT_NE(lost->next.text().find("lspci -nnk -d 15b3:"), std::string::npos);
}

TEST(ReplacedHardware, IsTheGpuThatAnRdmaHostLacks) {
  MachineFacts machine = whole_machine();
  machine.gpu = machine.gpu_module = machine.gpu_nodes = false;
  const auto lost = replaced_hardware(machine, with_stand_ins(false, true));
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->seen, std::vector<std::string>{"this machine has no NVIDIA GPU on the PCI bus"});
  EXPECT_FALSE(mentions(lost->causes, "NIC:"));
}

TEST(ReplacedHardware, CountsADriverWithoutAGpuAndANicWithoutADriver) {
  MachineFacts idle;
  idle.nic_card = true;
  const auto nic = replaced_hardware(idle, with_stand_ins(true, true));
  ASSERT_TRUE(nic);
  EXPECT_TRUE(mentions(nic->seen, "an RDMA NIC is on the PCI bus"));
  EXPECT_FALSE(mentions(nic->causes, "or there is no RDMA NIC")) << "there is one";
  MachineFacts lost;
  lost.gpu_module = lost.gpu_nodes = true;
  const auto gpu = replaced_hardware(lost, with_stand_ins(true, true));
  ASSERT_TRUE(gpu);
  EXPECT_TRUE(mentions(gpu->seen, "no GPU is on the PCI bus"));
  EXPECT_FALSE(mentions(gpu->causes, "of different releases"));
}

TEST(MissingHardware, SaysNothingAboutAPartThatIsThere) {
  MachineFacts machine = whole_machine();
  machine.nic = machine.nic_nodes = false;
  InventoryReport inventory = whole_inventory();
  inventory.nics.clear();
  const auto obstacle = missing_hardware(machine, inventory, true);
  ASSERT_TRUE(obstacle);
  EXPECT_EQ(obstacle->seen.size(), 1u);
  EXPECT_FALSE(mentions(obstacle->causes, "GPU"));
  EXPECT_EQ(obstacle->next.text().find("nvidia"), std::string::npos);
}

TEST(MissingHardware, OfAGpuIsNoneWhereHostMemoryAloneIsAskedAbout) {
  MachineFacts machine = whole_machine();
  machine.gpu = machine.gpu_module = machine.gpu_nodes = false;
  InventoryReport inventory = whole_inventory();
  inventory.gpus.clear();
  inventory.host_memory_only = true;
  EXPECT_FALSE(missing_hardware(machine, inventory, true));
  inventory.nics.clear();
  EXPECT_TRUE(missing_hardware(machine, inventory, true));
}

TEST(Obstacle, OfAnotherHostTellsNobodyWhatToType) {
  const Obstacle told{{"no GPU"}, {"its driver"}, text::Command("nvidia-smi")};
  const Result<Obstacle> heard = process::decode<Obstacle>(process::encode(told));
  ASSERT_TRUE(heard);
  EXPECT_EQ(heard->seen, told.seen);
  EXPECT_EQ(heard->causes, told.causes);
  EXPECT_TRUE(heard->next.empty());
}

TEST(MissingHardware, IsNoObstacleWhereAStandInTakesItsPlace) {
  InventoryReport inventory;
  inventory.soft_nic = inventory.soft_gpu = true;
  EXPECT_FALSE(missing_hardware({}, inventory, false));
}

TEST(MissingHardware, OfADeviceThatCannotBeUsedSaysTheLibrarysReason) {
  MachineFacts machine = whole_machine();
  machine.gpu_nodes = false;
  InventoryReport inventory = whole_inventory();
  inventory.gpus.clear();
  inventory.cuda_problem = "cuInit: no device";
  const auto obstacle = missing_hardware(machine, inventory, false);
  ASSERT_TRUE(obstacle);
  EXPECT_TRUE(mentions(obstacle->seen, "a real GPU, but it cannot be used: cuInit: no device"));
  EXPECT_TRUE(mentions(obstacle->causes, "/dev/nvidiactl is missing"));
  EXPECT_FALSE(mentions(obstacle->causes, "not loaded"));
}

TEST(RefusedStep, ForGpuMemoryThatRanOutPointsToSizesAndToTheSoftwareGpus) {
  InventoryReport inventory;
  inventory.soft_gpu = true;
  Obstacle obstacle = refused_step({ENOSPC, "out of memory"}, inventory);
  EXPECT_TRUE(mentions(obstacle.causes, "GDR_SOFT_GPUS="));
  EXPECT_TRUE(mentions(obstacle.causes, "--sizes"));
  inventory.soft_gpu = false;
  obstacle = refused_step({ENOSPC, "out of memory"}, inventory);
  EXPECT_FALSE(mentions(obstacle.causes, "GDR_SOFT_GPUS="));
  EXPECT_TRUE(mentions(refused_step({ENOMEM, ""}, inventory).causes, "ulimit -l"));
}

}  // namespace
}  // namespace gdr::proof
