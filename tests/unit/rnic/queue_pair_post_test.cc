// What may be posted when, and what becomes of it when the queue pair fails.
#include <algorithm>

#include "adapter_fixture.h"
#include "rnic/due.h"

namespace gdr::rnic {
namespace {

using Ids = std::vector<std::uint64_t>;

class QueuePairPostTest : public AdapterTest {
 protected:
  int post(QueuePair& qp, ibv_send_wr request) {
    const ibv_send_wr* bad = nullptr;
    const int error = qp.post_send(&request, &bad);
    EXPECT_EQ(bad, error != 0 ? &request : nullptr);
    return error;
  }
  static ibv_send_wr with(ibv_wr_opcode opcode, ibv_sge* segments = nullptr, int count = 0,
                          unsigned flags = IBV_SEND_SIGNALED) {
    ibv_send_wr request{};
    request.opcode = opcode;
    request.sg_list = segments;
    request.num_sge = count;
    request.send_flags = flags;
    return request;
  }
};

TEST_F(QueuePairPostTest, TakesSendsOnlyWhenReadyToSend) {
  auto qp = queue_pair(IBV_QPT_RC);
  EXPECT_EQ(post_send(*qp, 1), EINVAL);
  bring_to(*qp, IBV_QPS_INIT);
  EXPECT_EQ(post_send(*qp, 1), EINVAL);
  EXPECT_EQ(move_to(*qp, IBV_QPS_RESET), 0);
  bring_to(*qp, IBV_QPS_RTR);
  EXPECT_EQ(post_send(*qp, 1), EINVAL);
  EXPECT_EQ(move_to(*qp, IBV_QPS_RESET), 0);
  bring_to(*qp, IBV_QPS_RTS);
  EXPECT_EQ(post_send(*qp, 1), 0);
}

TEST_F(QueuePairPostTest, TakesReceivesFromInitOn) {
  auto qp = queue_pair(IBV_QPT_RC);
  EXPECT_EQ(post_receive(*qp, 1), EINVAL);
  bring_to(*qp, IBV_QPS_INIT);
  EXPECT_EQ(post_receive(*qp, 1), 0);
}

TEST_F(QueuePairPostTest, TakesEachOperationOnTheTypesThatHaveIt) {
  const std::vector<std::pair<ibv_wr_opcode, std::vector<ibv_qp_type>>> served = {
      {IBV_WR_SEND, {IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD, IBV_QPT_RAW_PACKET}},
      {IBV_WR_SEND_WITH_IMM, {IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD}},
      {IBV_WR_RDMA_WRITE, {IBV_QPT_RC, IBV_QPT_UC}},
      {IBV_WR_RDMA_WRITE_WITH_IMM, {IBV_QPT_RC, IBV_QPT_UC}},
      {IBV_WR_RDMA_READ, {IBV_QPT_RC}},
      {IBV_WR_ATOMIC_CMP_AND_SWP, {IBV_QPT_RC}},
      {IBV_WR_ATOMIC_FETCH_AND_ADD, {IBV_QPT_RC}},
      {IBV_WR_LOCAL_INV, {IBV_QPT_RC, IBV_QPT_UC}},
      {IBV_WR_SEND_WITH_INV, {IBV_QPT_RC, IBV_QPT_UC}},
      {IBV_WR_BIND_MW, {}},  // not without a window
      {IBV_WR_TSO, {}},
      {static_cast<ibv_wr_opcode>(15), {}},
  };
  AddressHandle handle{};
  for (const ibv_qp_type type : {IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD, IBV_QPT_RAW_PACKET}) {
    for (const auto& [opcode, types] : served) {
      auto qp = queue_pair(type);
      bring_to(*qp, IBV_QPS_RTS);
      ibv_send_wr request = with(opcode);
      if (type == IBV_QPT_UD) request.wr.ud.ah = &handle.base;
      const bool expected = std::find(types.begin(), types.end(), type) != types.end();
      EXPECT_EQ(post(*qp, request), expected ? 0 : EINVAL) << type << " " << opcode;
      adapter_->destroy_queue_pair(*qp);
    }
  }
}

TEST_F(QueuePairPostTest, RefusesSegmentsAndInlineDataBeyondWhatWasGranted) {
  auto qp = queue_pair(IBV_QPT_RC);
  bring_to(*qp, IBV_QPS_RTS);
  std::uint8_t bytes[65] = {};
  ibv_sge segments[3] = {{reinterpret_cast<std::uint64_t>(bytes), 32, 0},
                         {reinterpret_cast<std::uint64_t>(bytes), 32, 0},
                         {reinterpret_cast<std::uint64_t>(bytes), 1, 0}};
  const unsigned flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE;
  EXPECT_EQ(post(*qp, with(IBV_WR_SEND, segments, 3)), EINVAL);
  EXPECT_EQ(post(*qp, with(IBV_WR_SEND, segments, -1)), EINVAL);
  EXPECT_EQ(post(*qp, with(IBV_WR_SEND, nullptr, 1)), EINVAL);
  EXPECT_EQ(post(*qp, with(IBV_WR_SEND, segments, 2, flags)), 0);
  segments[1].length = 33;
  EXPECT_EQ(post(*qp, with(IBV_WR_SEND, segments, 2, flags)), EINVAL);
  segments[0].length = segments[1].length = 0x8000'0000;
  EXPECT_EQ(post(*qp, with(IBV_WR_SEND, segments, 2, flags)), EINVAL);  // no wrap to 0
  segments[0].length = 8;
  EXPECT_EQ(post(*qp, with(IBV_WR_RDMA_READ, segments, 1, flags)), EINVAL);
  EXPECT_EQ(post(*qp, with(IBV_WR_ATOMIC_FETCH_AND_ADD, segments, 1, flags)), EINVAL);
}

TEST_F(QueuePairPostTest, RefusesADatagramWithoutAnAddress) {
  auto qp = queue_pair(IBV_QPT_UD);
  bring_to(*qp, IBV_QPS_RTS);
  EXPECT_EQ(post(*qp, with(IBV_WR_SEND)), EINVAL);
}

TEST_F(QueuePairPostTest, KeepsWhatCameBeforeTheRequestItRefuses) {
  auto qp = queue_pair(IBV_QPT_RC);
  bring_to(*qp, IBV_QPS_RTS);
  ibv_send_wr third = with(IBV_WR_SEND), second = with(IBV_WR_TSO), first = with(IBV_WR_SEND);
  first.next = &second;
  second.next = &third;
  const ibv_send_wr* bad = nullptr;
  EXPECT_EQ(qp->post_send(&first, &bad), EINVAL);
  EXPECT_EQ(bad, &second);
  EXPECT_EQ(qp->send_ring().size(), 1u);
}

TEST_F(QueuePairPostTest, TakesAsManyRequestsAsWereGrantedAndNoMore) {
  auto qp = queue_pair(IBV_QPT_RC);
  bring_to(*qp, IBV_QPS_RTS);
  for (std::uint64_t i = 0; i < 8; ++i) EXPECT_EQ(post_send(*qp, i), 0);
  EXPECT_EQ(post_send(*qp, 8), ENOMEM);
  qp->complete_front(IBV_WC_SUCCESS, 0);
  EXPECT_EQ(post_send(*qp, 8), 0);
  for (std::uint64_t i = 0; i < 8; ++i) EXPECT_EQ(post_receive(*qp, i), 0);
  EXPECT_EQ(post_receive(*qp, 8), ENOMEM);
}

TEST_F(QueuePairPostTest, CopiesInlineDataAtOnce) {
  auto qp = queue_pair(IBV_QPT_RC);
  bring_to(*qp, IBV_QPS_RTS);
  std::uint8_t bytes[4] = {1, 2, 3, 4};
  ibv_sge segments[2] = {{reinterpret_cast<std::uint64_t>(bytes), 3, 0},
                         {reinterpret_cast<std::uint64_t>(bytes + 3), 1, 0}};
  ASSERT_EQ(post(*qp, with(IBV_WR_SEND, segments, 2, IBV_SEND_INLINE)), 0);
  bytes[0] = bytes[3] = 0xff;
  const auto data = qp->send_ring().front().inline_data();
  EXPECT_EQ(std::vector<std::uint8_t>(data.begin(), data.end()),
            (std::vector<std::uint8_t>{1, 2, 3, 4}));
}

TEST_F(QueuePairPostTest, OnlySignalledRequestsComplete) {
  auto qp = queue_pair(IBV_QPT_RC);
  bring_to(*qp, IBV_QPS_RTS);
  ASSERT_EQ(post_send(*qp, 1, 0), 0);
  ASSERT_EQ(post_send(*qp, 2), 0);
  qp->complete_front(IBV_WC_SUCCESS, 0);
  qp->complete_front(IBV_WC_SUCCESS, 0);
  EXPECT_EQ(ids(IBV_WC_SUCCESS), (Ids{2}));
}

TEST_F(QueuePairPostTest, MovingToErrorFlushesEveryRequestInOrderSignalledOrNot) {
  auto qp = queue_pair(IBV_QPT_RC);
  bring_to(*qp, IBV_QPS_RTS);
  for (std::uint64_t i = 1; i <= 3; ++i) ASSERT_EQ(post_send(*qp, i, 0), 0);
  for (std::uint64_t i = 11; i <= 13; ++i) ASSERT_EQ(post_receive(*qp, i), 0);
  ASSERT_EQ(move_to(*qp, IBV_QPS_ERR), 0);
  EXPECT_EQ(path_.services, 1);
  EXPECT_FALSE(adapter_->serve());
  EXPECT_EQ(ids(IBV_WC_WR_FLUSH_ERR), (Ids{1, 2, 3, 11, 12, 13}));
  // What is posted from now on is flushed too.
  ASSERT_EQ(post_send(*qp, 4), 0);
  ASSERT_EQ(post_receive(*qp, 14), 0);
  adapter_->serve();
  EXPECT_EQ(ids(IBV_WC_WR_FLUSH_ERR), (Ids{4, 14}));
}

TEST_F(QueuePairPostTest, AFailedRequestBreaksAReliableConnection) {
  auto qp = queue_pair(IBV_QPT_RC);
  bring_to(*qp, IBV_QPS_RTS);
  for (std::uint64_t i = 1; i <= 2; ++i) ASSERT_EQ(post_send(*qp, i, 0), 0);
  ASSERT_EQ(post_receive(*qp, 11), 0);
  qp->complete_front(IBV_WC_REM_ACCESS_ERR, 0);
  EXPECT_EQ(qp->state(), IBV_QPS_ERR);
  adapter_->serve();
  const auto found = completions();
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].status, IBV_WC_REM_ACCESS_ERR);
  EXPECT_EQ(found[1].status, IBV_WC_WR_FLUSH_ERR);
  EXPECT_EQ(found[2].wr_id, 11u);
}

TEST_F(QueuePairPostTest, AFailedDatagramStopsSendingOnly) {
  auto qp = queue_pair(IBV_QPT_UD);
  bring_to(*qp, IBV_QPS_RTS);
  AddressHandle handle{};
  ibv_send_wr request = with(IBV_WR_SEND);
  request.wr.ud.ah = &handle.base;
  request.wr_id = 1;
  ASSERT_EQ(post(*qp, request), 0);
  request.wr_id = 2;
  ASSERT_EQ(post(*qp, request), 0);
  ASSERT_EQ(post_receive(*qp, 11), 0);
  qp->complete_front(IBV_WC_LOC_PROT_ERR, 0);
  EXPECT_EQ(qp->state(), IBV_QPS_SQE);
  adapter_->serve();
  const auto found = completions();
  ASSERT_EQ(found.size(), 2u);  // the receive stays
  EXPECT_EQ(found[1].status, IBV_WC_WR_FLUSH_ERR);
  ASSERT_EQ(move_to(*qp, IBV_QPS_RTS), 0);
  EXPECT_EQ(post(*qp, request), 0);
}

TEST_F(QueuePairPostTest, ResetAndDestructionForgetRequestsAndCompletions) {
  auto qp = queue_pair(IBV_QPT_RC), other = queue_pair(IBV_QPT_RC);
  for (QueuePair* each : {qp.get(), other.get()}) {
    bring_to(*each, IBV_QPS_RTS);
    ASSERT_EQ(post_send(*each, each->number()), 0);
    ASSERT_EQ(post_send(*each, 2), 0);
    ASSERT_EQ(post_receive(*each, 3), 0);
    each->complete_front(IBV_WC_SUCCESS, 0);
  }
  ASSERT_EQ(move_to(*qp, IBV_QPS_RESET), 0);
  EXPECT_TRUE(qp->send_ring().empty());
  EXPECT_EQ(qp->shared().receive_tail.load(), qp->shared().receive_head.load());
  EXPECT_EQ(ids(IBV_WC_SUCCESS), (Ids{other->number()}));
  other->complete_front(IBV_WC_SUCCESS, 0);
  adapter_->destroy_queue_pair(*other);
  adapter_->serve();
  EXPECT_TRUE(completions().empty());
}

TEST_F(QueuePairPostTest, AnInitiatorsReportMovesToErrorAndRaisesItsEvent) {
  for (const auto& [failure, event] : {std::pair{Failure::kReported, IBV_EVENT_QP_ACCESS_ERR},
                                       std::pair{Failure::kInvalid, IBV_EVENT_QP_REQ_ERR}}) {
    auto qp = queue_pair(IBV_QPT_RC);
    bring_to(*qp, IBV_QPS_RTS);
    ASSERT_EQ(post_receive(*qp, 11), 0);
    qp->shared().failure.store(static_cast<std::uint32_t>(failure));
    mark_due(adapter_->segment().header().due_queue_pairs, qp->index());
    adapter_->serve();
    EXPECT_EQ(qp->state(), IBV_QPS_ERR);
    EXPECT_EQ(ids(IBV_WC_WR_FLUSH_ERR), (Ids{11}));
    auto raised = events_->take();
    ASSERT_TRUE(raised);
    EXPECT_EQ(raised->type, event);
    EXPECT_EQ(raised->object, this);
  }
}

// The holder may be waiting for the very thread that calls serve().
TEST_F(QueuePairPostTest, ServingDoesNotWaitForAnInitiatorButComesAgain) {
  auto qp = queue_pair(IBV_QPT_RC);
  bring_to(*qp, IBV_QPS_RTS);
  ASSERT_EQ(post_receive(*qp, 11), 0);
  qp->shared().failure.store(static_cast<std::uint32_t>(Failure::kReported));
  lock(qp->shared().responder, make_token(5, 5), liveness_, HeldFor::kCopies, kToken);
  EXPECT_TRUE(adapter_->serve());
  EXPECT_TRUE(completions().empty());
  unlock(qp->shared().responder);
  EXPECT_FALSE(adapter_->serve());
  EXPECT_EQ(ids(IBV_WC_WR_FLUSH_ERR), (Ids{11}));
}

TEST_F(QueuePairPostTest, APostedReceiveWakesWhoWaitsForItOnce) {
  auto qp = queue_pair(IBV_QPT_RC);
  bring_to(*qp, IBV_QPS_RTS);
  ASSERT_EQ(post_receive(*qp, 1), 0);
  EXPECT_TRUE(path_.woken.empty());
  qp->shared().receive_waiter.store(make_token(5, 5));
  ASSERT_EQ(post_receive(*qp, 2), 0);
  ASSERT_EQ(post_receive(*qp, 3), 0);
  EXPECT_EQ(path_.woken, (std::vector<std::uint32_t>{5}));
}

TEST_F(QueuePairPostTest, ACompletionThatDoesNotFitAsksForTheEvent) {
  queue_ = completion_queue(1);
  auto qp = queue_pair(IBV_QPT_RC);
  bring_to(*qp, IBV_QPS_RTS);
  for (std::uint64_t i = 0; i < 2; ++i) ASSERT_EQ(post_send(*qp, i), 0);
  qp->complete_front(IBV_WC_SUCCESS, 0);
  EXPECT_EQ(path_.services, 0);
  qp->complete_front(IBV_WC_SUCCESS, 0);
  EXPECT_EQ(path_.services, 1);
}

TEST_F(QueuePairPostTest, ScribbledRingPositionsCostNoMoreThanErrors) {
  auto qp = queue_pair(IBV_QPT_RC);
  bring_to(*qp, IBV_QPS_RTS);
  for (const std::uint32_t head : {0x8000'0000u, 1u, 0xffff'ffffu}) {
    qp->shared().receive_head.store(head);
    (void)post_receive(*qp, 1);
  }
  ASSERT_EQ(move_to(*qp, IBV_QPS_ERR), 0);
  adapter_->serve();
  EXPECT_LE(completions().size(), 8u);
}

TEST(SendRing, GoesRoundAndKeepsItsOrder) {
  SendRing ring;
  ASSERT_TRUE(ring.allocate(4, 3, 100));
  std::uint64_t in = 0, out = 0;
  for (int round = 0; round < 100; ++round) {
    while (!ring.full()) {
      ring.back_slot().wr_id = in++;
      ring.push();
    }
    EXPECT_EQ(ring.size(), 4u);
    for (int i = 0; i <= round % 4; ++i) {
      EXPECT_EQ(ring.front().wr_id, out++);
      ring.pop();
    }
  }
  ring.clear();
  EXPECT_TRUE(ring.empty());
}

TEST(SendRing, TakesPowersOfTwoOnly) {
  SendRing ring;
  EXPECT_FALSE(ring.allocate(3, 1, 0));
  EXPECT_TRUE(ring.allocate(1, 0, 0));
}

}  // namespace
}  // namespace gdr::rnic
