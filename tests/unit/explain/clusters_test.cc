// Clusters, clouds and pods: what several lines say together, and what one of them alone must not.
#include <gtest/gtest.h>

#include <string>

#include "explained.h"

namespace gdr::explain {
namespace {

TEST(Containers, WithoutRdmaAreToldFromHowTheyWereStarted) {
  const std::string sockets = "host1:7:7 [0] NCCL INFO NET/Socket : Using [0]eth0:192.0.2.1<0>";
  EXPECT_EQ(causes_in("docker run --network host --gpus all image\n" + sockets),
            Ids{"container-without-rdma"});
  EXPECT_EQ(causes_in("docker run --gpus all --device=/dev/infiniband image\n" + sockets), Ids{});
  EXPECT_EQ(causes_in("docker run --privileged --gpus all image\n" + sockets), Ids{});
  EXPECT_EQ(causes_in(sockets), Ids{});
}

TEST(Efa, IsToldWhereAProgramAsksForReliableConnections) {
  const std::string refused = "failed to create queue pair (QP): Operation not supported";
  EXPECT_EQ(causes_in("device rdmap16s27:\n" + refused), Ids{"efa-no-rc"});
  EXPECT_EQ(causes_in("device mlx5_0:\n" + refused), Ids{"queue-unsupported"});
}

TEST(ExpandableSegments, AreToldOnlyWhereARegistrationFailed) {
  const std::string setting = "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True";
  EXPECT_EQ(causes_in(setting), Ids{});
  EXPECT_EQ(causes_in(setting + "\nFailed to register memory 0x7f00: Bad address [14]"),
            Ids{"expandable-segments"});
}

TEST(EngineStart, IsToldOnlyWhereItHangs) {
  const std::string ordinary =
      "Custom allreduce is disabled because this process group spans across nodes.";
  EXPECT_EQ(causes_in(ordinary), Ids{});
  EXPECT_EQ(causes_in(ordinary + "\nthen both ranks hang indefinitely"),
            Ids{"engine-host-address"});
}

TEST(Queues, RefusedWithBadAddressAreNoMatterOfGpuMemory) {
  EXPECT_EQ(causes_in("ibv_create_qp failed: Bad address"), Ids{"queue-bad-address"});
  EXPECT_EQ(causes_in("ibv_reg_mr failed: Bad address"), Ids{"mr-bad-address"});
}

TEST(Nvshmem, TellsARenamedNicFromAnotherKind) {
  const std::string left_out = " is not enumerated as an mlx5 device. Skipping...";
  EXPECT_EQ(causes_in("WARN: device roce_rail1" + left_out), Ids{"ibgda-renamed-nic"});
  EXPECT_EQ(causes_in("WARN: device erdma_0" + left_out), Ids{"ibgda-other-nic"});
}

TEST(NcclPlugins, AreToldWhereRanksHaveDifferentOnes) {
  const std::string with = "a:1:1 [0] NCCL INFO Plugin Path : /opt/hpcx/lib/libnccl-net.so";
  const std::string without =
      "b:1:1 [5] NCCL INFO NET/Plugin: Could not find: libnccl-net.so. Using internal network "
      "plugin.";
  EXPECT_EQ(causes_in(with + "\n" + without), Ids{"nccl-plugin-mixed"});
  EXPECT_EQ(causes_in(with), Ids{});
  EXPECT_EQ(causes_in(without), Ids{});
}

TEST(Imex, IsToldApartFromAHandleThatCannotBeMapped) {
  EXPECT_EQ(causes_in("IMEX daemon not ready: NOT_READY"), Ids{"imex-daemon"});
  EXPECT_EQ(causes_in("cuMemCreate failed: operation not permitted"), Ids{"mnnvl-imex"});
}

TEST(NvlinkSharp, IsNotTakenForSharpInSwitches) {
  EXPECT_EQ(causes_in("Failed to bind NVLink SHARP (NVLS) Multicast memory of size 2097152 : CUDA "
                      "error 401"),
            Ids{"nccl-nvls"});
}

// The class that NCCL ends with adds nothing to a line that says why.
TEST(NcclClass, StandsBelowAReason) {
  EXPECT_EQ(causes_in("Detected mixed local Net device counts across ranks (min 7, max 8)\n"
                      "ncclSystemError: System call failed"),
            Ids{"nccl-nics-differ"});
  EXPECT_EQ(causes_in("ncclSystemError: System call failed"), Ids{"nccl-class"});
}

TEST(Atomics, AreNotBlamedForWhatLspciShowsOfEveryGpu) {
  EXPECT_EQ(causes_in("AtomicOpsCap: 32bit- 64bit- 128bitCAS-"), Ids{});
}

}  // namespace
}  // namespace gdr::explain
