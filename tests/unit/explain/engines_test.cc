// Inference engines and the libraries below them: what one program words differently from release
// to release, and what people write in questions, must lead to the cause.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "explained.h"

namespace gdr::explain {
namespace {

TEST(Connections, AreToldByTheErrorInEveryReleaseOfNccl) {
  const std::string old = "x [0] misc/ibvwrap.cc:284 NCCL WARN Call to ibv_modify_qp failed with ";
  EXPECT_EQ(causes_in(old + "error Connection timed out"), Ids{"qp-timed-out"});
  EXPECT_EQ(causes_in(old + "error Invalid argument"), Ids{"qp-values"});
  const std::string where =
      ", on dev mlx5_0:1, curr state INIT, next state RTR, local GID index 3, local GID "
      "::ffff:192.0.2.1, remote GID ::ffff:198.51.100.1";
  EXPECT_EQ(causes_in(old + "110 Connection timed out" + where), Ids{"qp-timed-out"});
  EXPECT_EQ(causes_in(old + "22 Invalid argument" + where), Ids{"qp-values"});
  EXPECT_EQ(causes_in(old + "113 No route to host" + where), Ids{"qp-no-route"});
}

TEST(Connections, AreToldInTheWordsOfAQuestion) {
  EXPECT_EQ(causes_in("I get ETIMEDOUT when I modify the QP to RTR"), Ids{"qp-timed-out"});
  EXPECT_EQ(causes_in("ibv_modify_qp returns EINVAL for INIT to RTR"), Ids{"qp-values"});
  EXPECT_EQ(causes_in("failed to modify QP state to RTR"), Ids{"qp-not-connected"});
}

// InfiniBand and RoCE in one job are why the values do not fit.
TEST(Connections, OfMixedLinkLayersAreToldFromTheNicsThatNcclUses) {
  const std::string failed = "x NCCL WARN Call to ibv_modify_qp failed with error Invalid argument";
  const std::string mixed = "x NCCL INFO NET/IB : Using [0]mlx5_3:1/IB [1]mlx5_2:1/RoCE ; OOB eth0";
  const std::string same =
      "x NCCL INFO NET/IB : Using [0]mlx5_3:1/RoCE [1]mlx5_2:1/RoCE ; OOB eth0";
  EXPECT_EQ(causes_in(mixed + "\n" + failed), Ids{"nccl-mixed-links"});
  EXPECT_EQ(causes_in(same + "\n" + failed), Ids{"qp-values"});
}

TEST(Connections, OfDifferentMtusAreToldFromWhatBothSidesReport) {
  EXPECT_EQ(causes_in("local length error"), Ids{"local-request-error"});
  EXPECT_EQ(causes_in("node1: local length error\nnode2: remote invalid request error"),
            Ids{"mtu-mismatch"});
}

TEST(DeepEp, TellsItsAssertionsApart) {
  const std::string start = "RuntimeError: Failed: Assertion error /x/csrc/kernels/internode.cu:1 ";
  EXPECT_EQ(causes_in(start + "'num_max_nvl_chunked_recv_tokens % num_rdma_ranks == 0'"),
            Ids{"deepep-config"});
  EXPECT_EQ(causes_in(start + "'false and \"Unsupported RDMA ranks\"'"), Ids{"deepep-ranks"});
  EXPECT_EQ(causes_in(start + "'layout.total_bytes <= num_rdma_bytes'"), Ids{"deepep-buffer"});
  EXPECT_EQ(causes_in(start + "'x.dim() == 2 and x.is_contiguous()'"), Ids{"deepep-assertion"});
}

TEST(Nvshmem, DoesNotTakeItsBootstrapForNccls) {
  const std::string folder = "/nvshmem/src/modules/bootstrap/uid/bootstrap_uid.cpp:";
  EXPECT_EQ(causes_in(folder + "bootstrap_net_init:160: No socket interface found"),
            Ids{"nvshmem-bootstrap"});
  EXPECT_EQ(causes_in(folder + "bootstrap_net_recv:99: Message truncated : received 58 bytes "
                               "instead of 8\n/nvshmem/src/host/topo/topo.cpp:477: non-zero "
                               "status: -6 allgather of ipc handles failed"),
            Ids{"nvshmem-messages-mixed"});
}

TEST(Mooncake, TellsTheStatusOfASliceAndNotARawCompletion) {
  const std::string slice = "E0617 worker_pool.cpp:291] Worker: Process failed for slice";
  EXPECT_EQ(causes_in(slice), Ids{"mooncake-slice"});
  EXPECT_EQ(causes_in(slice + " (opcode: 1, local_nic: mlx5_2, peer_nic: 192.0.2.8:15992@mlx5_1, "
                              "retry_cnt: 0): transport retry counter exceeded"),
            Ids{"peer-never-answers"});
}

TEST(Nixl, TellsALostPeerFromAWrongOne) {
  EXPECT_EQ(causes_in("nixlRemoteDisconnectError: NIXL_ERR_REMOTE_DISCONNECT\nnixlNotFoundError: "
                      "NIXL_ERR_NOT_FOUND"),
            Ids{"nixl-disconnect"});
  EXPECT_EQ(causes_in("RuntimeError: Remote NIXL agent engine ID mismatch. Expected a, received b\n"
                      "[nixl_connector.py:827] Handshake failed for request chatcmpl"),
            Ids{"nixl-engine-id"});
}

}  // namespace
}  // namespace gdr::explain
