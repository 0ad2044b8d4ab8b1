#include "participants/libraries.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "scratch_folder.h"

namespace gdr::participants {
namespace {

TEST(MachineFacts, AreReadBelowTheRoot) {
  const test::ScratchFolder scratch;
  const std::string root = scratch.root();
  EXPECT_FALSE(look_at_machine(root).nic_nodes);
  scratch.make("dev/infiniband");
  EXPECT_FALSE(look_at_machine(root).nic_nodes) << "the folder is empty";
  for (const char* folder : {"dev/infiniband/uverbs0", "dev/nvidiactl", "sys/module/nvidia",
                             "sys/class/infiniband/mlx5_0"}) {
    scratch.make(folder);
  }
  const MachineFacts machine = look_at_machine(root);
  EXPECT_TRUE(machine.nic && machine.nic_nodes && machine.gpu_module && machine.gpu_nodes);
  EXPECT_FALSE(machine.gpu) << "none is on the PCI bus";
}

LibraryWishes wishes() {
  LibraryWishes wishes;
  wishes.soft_verbs = "/soft/libibverbs.so.1";
  wishes.soft_cuda = "/soft/libcuda.so.1";
  return wishes;
}

TEST(Libraries, AreStandInsForWhatTheMachineLacksAlone) {
  MachineFacts machine;
  machine.gpu = true;
  const Libraries chosen = choose_libraries(machine, wishes(), true);
  EXPECT_TRUE(chosen.soft_nic);
  EXPECT_EQ(chosen.verbs, "/soft/libibverbs.so.1");
  EXPECT_FALSE(chosen.soft_gpu);
  EXPECT_EQ(chosen.cuda, "libcuda.so.1");
}

TEST(Libraries, AreStandInsForHardwareWhenAskedFor) {
  MachineFacts machine;
  machine.gpu = machine.nic = true;
  LibraryWishes soft = wishes();
  soft.soft = true;
  const Libraries chosen = choose_libraries(machine, soft, true);
  EXPECT_EQ(chosen.verbs, "/soft/libibverbs.so.1");
  EXPECT_EQ(chosen.cuda, "/soft/libcuda.so.1");
}

TEST(Libraries, AreNoStandInsWhereHardwareIsRequired) {
  LibraryWishes required = wishes();
  required.require_hardware = true;
  const Libraries chosen = choose_libraries({}, required, true);
  EXPECT_FALSE(chosen.soft_nic || chosen.soft_gpu);
  EXPECT_EQ(chosen.verbs, "libibverbs.so.1");
  EXPECT_EQ(chosen.cuda, "libcuda.so.1");
}

TEST(Libraries, HaveNoneOfCudaWhereNobodyAsksForGpus) {
  const Libraries chosen = choose_libraries({}, wishes(), false);
  EXPECT_EQ(chosen.cuda, "");
  EXPECT_FALSE(chosen.soft_gpu);
}

}  // namespace
}  // namespace gdr::participants
