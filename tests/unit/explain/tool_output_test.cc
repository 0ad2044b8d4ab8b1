// What the output of tools says by its values, and not by words of failure.
#include <gtest/gtest.h>

#include "explained.h"

namespace gdr::explain {
namespace {

TEST(RdmaLink, ThatIsDownIsNamedUnlessAnotherIsActive) {
  const std::string down = "link mlx5_0/1 state DOWN physical_state DISABLED netdev ens1\n";
  EXPECT_EQ(causes_in(down), Ids{"no-active-port"});
  EXPECT_EQ(causes_in(down + "link mlx5_1/1 state ACTIVE physical_state LINK_UP netdev ens2\n"),
            Ids{});
}

TEST(RdmaLink, InInitMeansNoSubnetManager) {
  EXPECT_EQ(causes_in("link ibp1s0/1 subnet_prefix fe80:0000:0000:0000 lid 65535 sm_lid 0 lmc 0 "
                      "state INIT physical_state LINK_UP\n"),
            Ids{"port-init-shown"});
}

TEST(RdmaLink, ThatIsDownAlthoughItHasALinkIsAVirtualFunction) {
  EXPECT_EQ(causes_in("link ibp1s0v0/1 subnet_prefix fe80:0000:0000:0000 lid 65535 sm_lid 1 lmc 0 "
                      "state DOWN physical_state LINK_UP\n"),
            Ids{"vf-link-down"});
}

TEST(Ibstat, TellsAPortThatIsDownFromOneThatWaitsForTheSubnetManager) {
  EXPECT_EQ(causes_in("CA 'mlx5_0'\n\tPort 1:\n\t\tState: Down\n\t\tPhysical state: Polling\n"),
            Ids{"no-active-port"});
  EXPECT_EQ(
      causes_in("CA 'mlx5_0'\n\tPort 1:\n\t\tState: Initializing\n\t\tPhysical state: LinkUp\n"),
      Ids{"port-init-shown"});
  EXPECT_EQ(causes_in("CA 'mlx5_0'\n\tPort 1:\n\t\tState: Active\n\t\tPhysical state: LinkUp\n"
                      "\tPort 2:\n\t\tState: Down\n\t\tPhysical state: Polling\n"),
            Ids{});
}

TEST(IbvDevinfo, WithoutANodeGuidIsTheCauseOfAPortThatIsDown) {
  EXPECT_EQ(causes_in("hca_id:\tmlx5_4\n\tnode_guid:\t\t0000:0000:0000:0000\n"
                      "\t\t\tstate:\t\t\tPORT_DOWN (1)\n"),
            Ids{"node-guid-zero"});
  EXPECT_EQ(causes_in("hca_id:\tmlx5_0\n\tnode_guid:\t\t0c42:a103:0060:2a2e\n"
                      "\t\t\tstate:\t\t\tPORT_ACTIVE (4)\n"),
            Ids{});
}

TEST(ShowGids, IsJudgedWhereItIsEmptyAndSilentWhereItIsNot) {
  EXPECT_EQ(causes_in("DEV\tPORT\tINDEX\tGID\nn_gids_found=0\n"), Ids{"gid-table-empty"});
  EXPECT_EQ(causes_in("mlx5_0\t1\t0\tfe80:0000:0000:0000:0e42:a1ff:fe1d:d12a\t\tv1\tens1\n"
                      "n_gids_found=10\n"),
            Ids{});
}

// "UCX ERROR" and no more names a library; the line that has the reason is the answer.
TEST(ALibrarysName, IsNoAnswerOfItsOwnBesideAReason) {
  EXPECT_EQ(causes_in("UCX ERROR something odd\n"), Ids{"ucx-call"});
  EXPECT_EQ(causes_in("Couldn't allocate MR with error=14\nUCX ERROR something odd\n"),
            Ids{"mr-bad-address"});
}

TEST(RdmaCm, GivesEachErrorItsOwnAnswer) {
  EXPECT_EQ(causes_in("rdma_bind_addr: Cannot assign requested address\n"), Ids{"rdma-cm-address"});
  EXPECT_EQ(causes_in("rdma_bind_addr: Address already in use\n"), Ids{"rdma-cm-port"});
  EXPECT_EQ(causes_in("rdma_connect: Connection refused\n"), Ids{"rdma-cm-rejected"});
  EXPECT_EQ(causes_in("rdma_connect: Connection timed out\n"), Ids{"rdma-cm-unreachable"});
  EXPECT_EQ(causes_in("rdma_resolve_addr: No route to host\n"), Ids{"rdma-cm-unresolved"});
  EXPECT_EQ(causes_in("rdma_resolve_addr: No such device\n"), Ids{"rdma-cm-address"});
  EXPECT_EQ(causes_in("rdma_create_event_channel: No such device\n"), Ids{"no-rdma-device"});
  EXPECT_EQ(causes_in("fio: rdma_create_event_channel fail\n"), Ids{"rdma-cm-absent"});
}

}  // namespace
}  // namespace gdr::explain
