// Queue pairs: states, wrong requests, destruction.
#include "verbs_fixture.h"

namespace gdr::test {
namespace {

class QueuePairTest : public VerbsTest {};

TEST_F(QueuePairTest, StartsInResetAndReportsWhatItWasGranted) {
  ibv_qp_init_attr init = attributes(IBV_QPT_RC);
  init.cap.max_recv_wr = 5;
  ibv_qp* qp = ibv_create_qp(pd_, &init);
  ASSERT_NE(qp, nullptr);
  EXPECT_EQ(qp->state, IBV_QPS_RESET);
  EXPECT_GE(init.cap.max_recv_wr, 5u);
  ibv_qp_attr attr{};
  ibv_qp_init_attr queried{};
  ASSERT_EQ(ibv_query_qp(qp, &attr, IBV_QP_STATE | IBV_QP_CAP, &queried), 0);
  EXPECT_EQ(attr.qp_state, IBV_QPS_RESET);
  EXPECT_EQ(attr.cap.max_recv_wr, init.cap.max_recv_wr);
  EXPECT_EQ(queried.send_cq, cq_);
  EXPECT_EQ(queried.recv_cq, cq_);
  EXPECT_EQ(queried.qp_type, IBV_QPT_RC);
  // The capacity reported is real: one more than it is refused.
  ASSERT_EQ(to_init(qp), 0);
  ibv_recv_wr receive{};
  ibv_recv_wr* bad = nullptr;
  for (std::uint32_t i = 0; i < init.cap.max_recv_wr; ++i) {
    ASSERT_EQ(ibv_post_recv(qp, &receive, &bad), 0) << i;
  }
  EXPECT_EQ(ibv_post_recv(qp, &receive, &bad), ENOMEM);
  EXPECT_EQ(bad, &receive);
}

TEST_F(QueuePairTest, GoesThroughItsStatesInOrderOnly) {
  ibv_qp* qp = create_qp(IBV_QPT_RC);
  EXPECT_EQ(to_rts(qp), EINVAL);
  EXPECT_EQ(to_rtr(qp, qp->qp_num), EINVAL);
  EXPECT_EQ(to_init(qp), 0);
  EXPECT_EQ(qp->state, IBV_QPS_INIT);
  EXPECT_EQ(to_rts(qp), EINVAL);
  EXPECT_EQ(to_rtr(qp, qp->qp_num), 0);
  EXPECT_EQ(to_rts(qp), 0);
  EXPECT_EQ(qp->state, IBV_QPS_RTS);
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_RESET;
  EXPECT_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
  EXPECT_EQ(qp->state, IBV_QPS_RESET);
}

TEST_F(QueuePairTest, CallsThatReturnAnErrorLeaveItInErrnoToo) {
  ibv_qp* qp = create_qp(IBV_QPT_RC);
  errno = 0;
  EXPECT_EQ(to_rts(qp), EINVAL);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(ibv_destroy_cq(cq_), EBUSY);
  EXPECT_EQ(errno, EBUSY);
  errno = 0;
  EXPECT_EQ(ibv_dealloc_pd(pd_), EBUSY);
  EXPECT_EQ(errno, EBUSY);
}

TEST_F(QueuePairTest, RefusesATransitionWithAnAttributeMissingOrWrong) {
  ibv_qp* qp = create_qp(IBV_QPT_RC);
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = 1;
  EXPECT_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PORT), EINVAL);
  attr.port_num = 2;
  EXPECT_EQ(ibv_modify_qp(qp, &attr,
                          IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS),
            EINVAL);
  EXPECT_EQ(qp->state, IBV_QPS_RESET);
}

// As a C program may fill them in.
template <typename Enum>
void set_raw(Enum& member, std::uint32_t number) {
  std::memcpy(&member, &number, sizeof number);
}

TEST_F(QueuePairTest, RefusesNumbersThatAreNoEnumerators) {
  ibv_qp* qp = create_qp(IBV_QPT_RC);
  ibv_qp_attr attr{};
  set_raw(attr.qp_state, 0xffffffff);
  EXPECT_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE), EINVAL);
  EXPECT_EQ(qp->state, IBV_QPS_RESET);
  ASSERT_EQ(to_init(qp), 0);
  attr = {};
  attr.qp_state = IBV_QPS_INIT;
  set_raw(attr.path_mtu, 99);
  EXPECT_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PATH_MTU), EINVAL);
  ibv_qp_init_attr init = attributes(IBV_QPT_RC);
  set_raw(init.qp_type, 1000);
  EXPECT_EQ(ibv_create_qp(pd_, &init), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
}

TEST_F(QueuePairTest, RefusesToSendBeforeItIsReady) {
  ibv_qp* qp = create_qp(IBV_QPT_RC);
  ibv_send_wr request = write_request(nullptr, 0, 0);
  ibv_send_wr* bad = nullptr;
  EXPECT_EQ(ibv_post_send(qp, &request, &bad), EINVAL);
  EXPECT_EQ(bad, &request);
  ASSERT_EQ(to_init(qp), 0);
  EXPECT_EQ(ibv_post_send(qp, &request, &bad), EINVAL);
  ibv_recv_wr receive{};
  ibv_recv_wr* bad_receive = nullptr;
  EXPECT_EQ(ibv_post_recv(qp, &receive, &bad_receive), 0);
}

TEST_F(QueuePairTest, IsRefusedForTypesAndObjectsThatAreNotOffered) {
  ibv_qp_init_attr init = attributes(IBV_QPT_DRIVER);
  EXPECT_EQ(ibv_create_qp(pd_, &init), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
  init = attributes(IBV_QPT_RC);
  init.send_cq = nullptr;
  EXPECT_EQ(ibv_create_qp(pd_, &init), nullptr);
  EXPECT_EQ(errno, EINVAL);
  init = attributes(IBV_QPT_RC);
  init.cap.max_inline_data = 1 << 20;
  EXPECT_EQ(ibv_create_qp(pd_, &init), nullptr);
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(QueuePairTest, TakesInlineDataWhereSegmentsWouldLieWithoutBeingAsked) {
  ibv_qp_init_attr init = attributes(IBV_QPT_RC);
  init.cap.max_inline_data = 0;
  init.cap.max_send_sge = 3;
  ibv_qp* qp = ibv_create_qp(pd_, &init);
  ASSERT_NE(qp, nullptr);
  EXPECT_EQ(init.cap.max_inline_data, 3 * sizeof(ibv_sge));
  EXPECT_EQ(ibv_destroy_qp(qp), 0);
}

TEST_F(QueuePairTest, KeepsItsCompletionQueueAndDomainBusy) {
  ibv_qp* qp = create_qp(IBV_QPT_RC);
  EXPECT_EQ(ibv_destroy_cq(cq_), EBUSY);
  EXPECT_EQ(ibv_dealloc_pd(pd_), EBUSY);
  EXPECT_EQ(ibv_destroy_qp(qp), 0);
  EXPECT_EQ(ibv_destroy_cq(cq_), 0);
  EXPECT_EQ(ibv_dealloc_pd(pd_), 0);
}

TEST_F(QueuePairTest, FlushesWhatIsPostedWhenItMovesToError) {
  ibv_qp* qp = create_qp(IBV_QPT_RC);
  ASSERT_EQ(to_init(qp), 0);
  ibv_recv_wr receive{};
  receive.wr_id = 42;
  ibv_recv_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_recv(qp, &receive, &bad), 0);
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_ERR;
  ASSERT_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
  const ibv_wc completion = wait_for_completion();
  EXPECT_EQ(completion.status, IBV_WC_WR_FLUSH_ERR);
  EXPECT_EQ(completion.wr_id, 42u);
  EXPECT_EQ(completion.qp_num, qp->qp_num);
}

TEST_F(QueuePairTest, TakesItsCompletionsAlongWhenItIsResetOrDestroyed) {
  ibv_qp* qp = create_qp(IBV_QPT_RC);
  ibv_qp* peer = create_qp(IBV_QPT_RC);
  connect(qp, peer);
  std::vector<std::uint8_t> bytes(64, 3);
  ibv_mr* mr = register_bytes(bytes);
  ibv_sge segment = segment_of(mr);
  ibv_send_wr request = write_request(&segment, address_of(bytes.data()), mr->rkey);
  ibv_send_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_send(qp, &request, &bad), 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_RESET;
  ASSERT_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
  EXPECT_TRUE(no_completion());
}

TEST_F(QueuePairTest, HasNoConnectionOptionsOfAnyVendorAsADeviceWithoutThemSays) {
  ibv_qp* qp = create_qp(IBV_QPT_RC);
  ibv_ece ece{};
  EXPECT_EQ(ibv_query_ece(qp, &ece), EOPNOTSUPP);
  ece = {.vendor_id = 0x15b3, .options = 0x30000002, .comp_mask = 0};
  EXPECT_EQ(ibv_set_ece(qp, &ece), EOPNOTSUPP);
}

TEST_F(QueuePairTest, DoesNotBecomeExtendedForOperationsThatItsTypeLacks) {
  EXPECT_EQ(create_extended_qp(IBV_QPT_UD, IBV_QP_EX_WITH_RDMA_WRITE), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
  EXPECT_EQ(create_extended_qp(IBV_QPT_RC, IBV_QP_EX_WITH_TSO), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
  EXPECT_EQ(ibv_qp_to_qp_ex(create_qp(IBV_QPT_RC)), nullptr);
  ibv_qp* extended = create_extended_qp(IBV_QPT_RC, IBV_QP_EX_WITH_SEND);
  ASSERT_NE(extended, nullptr);
  EXPECT_NE(ibv_qp_to_qp_ex(extended), nullptr);
}

}  // namespace
}  // namespace gdr::test
