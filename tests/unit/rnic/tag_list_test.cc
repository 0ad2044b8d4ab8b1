// The tagged receives of a shared receive queue: which one takes a message, when a receive may be
// matched at all, and what is left of one whose taker dies.
#include "rnic/tag_list.h"

#include "adapter_fixture.h"

namespace gdr::rnic {
namespace {

constexpr std::uint64_t kAll = ~std::uint64_t{0};

class TagListTest : public AdapterTest {
 protected:
  void SetUp() override {
    AdapterTest::SetUp();
    auto made = adapter_->create_srq({.protection_domain = domain_,
                                      .max_requests = 8,
                                      .max_segments = 2,
                                      .completion_queue = queue_,
                                      .max_tags = 4,
                                      .events = events_,
                                      .verbs_object = &srq_});
    ASSERT_TRUE(made);
    srq_ = *made;
  }

  int operate(ibv_ops_wr& operation) {
    ibv_ops_wr* bad = nullptr;
    const int error = srq_->operate(&operation, &bad);
    EXPECT_EQ(bad, error == 0 ? nullptr : &operation);
    return error;
  }
  static ibv_ops_wr addition(std::uint64_t tag, std::uint64_t mask, std::uint64_t id) {
    ibv_ops_wr operation{};
    operation.opcode = IBV_WR_TAG_ADD;
    operation.tm.add.recv_wr_id = id;
    operation.tm.add.tag = tag;
    operation.tm.add.mask = mask;
    return operation;
  }
  // Its handle.
  std::uint32_t add(std::uint64_t tag, std::uint64_t mask = kAll, std::uint64_t id = 0) {
    ibv_ops_wr operation = addition(tag, mask, id);
    EXPECT_EQ(operate(operation), 0);
    return operation.tm.handle;
  }
  ibv_wc_status remove(std::uint32_t handle) {
    ibv_ops_wr operation{};
    operation.opcode = IBV_WR_TAG_DEL;
    operation.flags = IBV_OPS_SIGNALED;
    operation.tm.handle = handle;
    EXPECT_EQ(operate(operation), 0);
    const auto found = completions();
    EXPECT_EQ(found.size(), 1u);
    return static_cast<ibv_wc_status>(found.front().status);
  }
  // The flags of its completion.
  std::uint32_t sync(std::uint32_t count) {
    ibv_ops_wr operation{};
    operation.opcode = IBV_WR_TAG_SYNC;
    operation.flags = IBV_OPS_SIGNALED | IBV_OPS_TM_SYNC;
    operation.tm.unexpected_cnt = count;
    EXPECT_EQ(operate(operation), 0);
    const auto found = completions();
    EXPECT_EQ(found.size(), 1u);
    EXPECT_EQ(found.front().opcode, static_cast<std::uint32_t>(IBV_WC_TM_SYNC));
    return found.front().flags;
  }

  std::uint32_t match(std::uint64_t tag) {
    return match_tag(adapter_->segment(), srq_->shared(), tag);
  }
  TagTable table() { return {adapter_->segment(), srq_->shared()}; }
  std::uint64_t id_of(std::uint32_t index) { return table().at(index).receive().wr_id; }
  // As an initiator, as far as the completion; what is pushed of it.
  SharedCompletion take(std::uint32_t index, TagState after = TagState::kFree) {
    SharedCompletion completion{};
    take_tag(adapter_->segment(), srq_->index(), index, after, &completion);
    return completion;
  }
  void complete(std::uint32_t index) { tag_completed(adapter_->segment(), srq_->index(), index); }
  void mend_it() { mend(adapter_->segment(), srq_->index(), kToken, liveness_); }

  std::shared_ptr<Srq> srq_;
};

TEST_F(TagListTest, TheOldestThatMatchesUnderItsMaskTakesTheMessage) {
  add(0x50, 0xf0, 1);
  add(0x57, kAll, 2);
  add(0, 0, 3);
  EXPECT_EQ(id_of(match(0x57)), 1u);
  EXPECT_EQ(id_of(match(0x77)), 3u);
  const std::uint32_t first = match(0x57);
  take(first);
  complete(first);
  EXPECT_EQ(id_of(match(0x57)), 2u);
  EXPECT_EQ(id_of(match(0x58)), 3u);
}

TEST_F(TagListTest, PlacesAreUsedAgainAndTheOrderIsThatOfAdding) {
  const std::uint32_t first = add(1, kAll, 1);
  add(1, kAll, 2);
  EXPECT_EQ(remove(first), IBV_WC_SUCCESS);
  EXPECT_NE(add(1, kAll, 3), first);
  EXPECT_EQ(id_of(match(1)), 2u);
}

TEST_F(TagListTest, TakesAsManyAsItWasMadeFor) {
  for (std::uint64_t i = 0; i < 4; ++i) add(i);
  ibv_ops_wr fifth = addition(9, kAll, 9);
  EXPECT_EQ(operate(fifth), ENOMEM);
  const std::uint32_t taken = match(2);
  take(taken);
  complete(taken);
  EXPECT_EQ(operate(fifth), 0);
  fifth.tm.add.num_sge = 3;
  EXPECT_EQ(operate(fifth), EINVAL);
}

TEST_F(TagListTest, RemovingWhatIsNotThereAnyMoreIsAnErrorCompletion) {
  const std::uint32_t handle = add(1);
  const std::uint32_t index = match(1);
  take(index);
  complete(index);
  EXPECT_EQ(remove(handle), IBV_WC_TM_ERR);
  EXPECT_EQ(remove(0xffff'ffff), IBV_WC_TM_ERR);
  add(1);
  EXPECT_EQ(remove(handle), IBV_WC_TM_ERR);
  EXPECT_NE(match(1), kNoTag);
}

// The program has not seen the unexpected message yet, which may belong into what it adds.
TEST_F(TagListTest, WhatIsAddedIsMatchedOnceTheCountsAgree) {
  add(1, kAll, 1);
  srq_->shared().unexpected = 2;
  ibv_ops_wr second = addition(2, kAll, 2);
  second.flags = IBV_OPS_SIGNALED | IBV_OPS_TM_SYNC;
  second.tm.unexpected_cnt = 1;
  EXPECT_EQ(operate(second), 0);
  EXPECT_EQ(completions().front().flags, static_cast<std::uint32_t>(IBV_WC_TM_SYNC_REQ));
  EXPECT_EQ(match(2), kNoTag);
  EXPECT_NE(match(1), kNoTag);  // live before
  EXPECT_EQ(sync(1), static_cast<std::uint32_t>(IBV_WC_TM_SYNC_REQ));
  EXPECT_EQ(match(2), kNoTag);
  EXPECT_EQ(sync(2), 0u);
  EXPECT_NE(match(2), kNoTag);
}

TEST_F(TagListTest, WakesWhoeverWaitsForAReceive) {
  wait_for_post(srq_->shared(), make_token(5, 9));
  add(1);
  EXPECT_EQ(path_.woken, std::vector<std::uint32_t>{5});
}

TEST_F(TagListTest, OneWhoseTakerDiedIsMatchedAgainUnlessItWasCompleted) {
  add(1, kAll, 1);
  const std::uint32_t index = match(1);
  const SharedCompletion completion = take(index);
  EXPECT_EQ(match(1), kNoTag);
  mend_it();
  EXPECT_EQ(match(1), index);
  take(index);
  queue_->push(completion, false);
  mend_it();
  EXPECT_EQ(match(1), kNoTag);
  EXPECT_EQ(table().at(index).state, TagState::kFree);
  mend_it();
  EXPECT_EQ(match(1), kNoTag);
}

TEST_F(TagListTest, NoOthersCompletionIsTakenForThatOfATag) {
  add(1);
  SharedCompletion completion = take(match(1));
  completion.srq = static_cast<std::uint16_t>(srq_->index() + 1);  // a plain receive of that number
  queue_->push(completion, false);
  mend_it();
  EXPECT_NE(match(1), kNoTag);
}

TEST_F(TagListTest, AnUnexpectedMessageCountsOnceWhoeverDies) {
  SharedSrq& shared = srq_->shared();
  ibv_recv_wr request{};
  const ibv_recv_wr* bad = nullptr;
  ASSERT_EQ(srq_->post(&request, &bad), 0);
  const auto take_and_die = [&] {
    shared.unexpected_next = shared.unexpected + 1;
    shared.completing = shared.receive_head + 1;
    shared.receive_head = shared.receive_head + 1;
  };
  take_and_die();
  mend_it();
  EXPECT_EQ(shared.unexpected, 0u);
  take_and_die();
  SharedCompletion completion{};
  completion.srq = static_cast<std::uint16_t>(srq_->index() + 1);
  completion.receive = shared.receive_head;
  queue_->push(completion, false);
  mend_it();
  EXPECT_EQ(shared.unexpected, 1u);
}

TEST_F(TagListTest, WhatWasAnnouncedByOneThatIsGoneEndsIncomplete) {
  add(1, kAll, 7);
  const std::uint32_t index = match(1);
  table().at(index).rendezvous.queue_pair = 77;  // there is none
  take(index, TagState::kDue);
  complete(index);
  EXPECT_FALSE(adapter_->serve());
  const auto found = completions();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].wr_id, 7u);
  EXPECT_EQ(found[0].status, static_cast<std::uint32_t>(IBV_WC_TM_RNDV_INCOMPLETE));
  EXPECT_EQ(table().at(index).state, TagState::kFree);
}

// Through a queue pair that is ready: read, and tell the sender.
TEST_F(TagListTest, WhatWasAnnouncedIsReadOnceByItsQueuePair) {
  ibv_qp_cap capabilities{};
  capabilities.max_send_wr = 1;
  auto qp = *adapter_->create_queue_pair({.type = IBV_QPT_RC,
                                          .protection_domain = domain_,
                                          .send_completion_queue = queue_,
                                          .receive_completion_queue = queue_,
                                          .srq = srq_,
                                          .events = events_,
                                          .verbs_object = this,
                                          .capabilities = capabilities});
  ibv_sge segments[2] = {{0x1000, 16, 1}, {0x2000, 64, 2}};
  ibv_ops_wr operation = addition(1, kAll, 7);
  operation.tm.add.sg_list = segments;
  operation.tm.add.num_sge = 2;
  ASSERT_EQ(operate(operation), 0);
  const std::uint32_t index = match(1);
  table().at(index).rendezvous = {
      .address = 0x9000, .key = 5, .length = 40, .queue_pair = qp->index(), .context = 3, .tag = 1};
  take(index, TagState::kDue);
  complete(index);
  bring_to(*qp, IBV_QPS_RTR);
  EXPECT_TRUE(adapter_->serve());  // it cannot send yet
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_RTS;
  ASSERT_EQ(qp->modify(attr, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                                 IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC),
            0);
  EXPECT_FALSE(adapter_->serve());
  EXPECT_FALSE(adapter_->serve());
  ASSERT_EQ(qp->send_ring().size(), 2u);
  const SendRequest& read = qp->send_ring().front();
  EXPECT_EQ(read.opcode, IBV_WR_RDMA_READ);
  EXPECT_EQ(read.remote_address, 0x9000u);
  EXPECT_EQ(read.rkey, 5u);
  EXPECT_EQ(read.total_bytes, 40u);
  ASSERT_EQ(read.segments().size(), 2u);
  EXPECT_EQ(read.segments()[1].length, 24u);
  qp->complete_front(IBV_WC_SUCCESS, 40);
  EXPECT_EQ(qp->send_ring().front().opcode, IBV_WR_SEND);
  EXPECT_EQ(qp->send_ring().front().inline_bytes, 16u);
  qp->complete_front(IBV_WC_SUCCESS, 16);
  const auto found = completions();
  ASSERT_EQ(found.size(), 1u);  // nothing of the two requests themselves
  EXPECT_EQ(found[0].wr_id, 7u);
  EXPECT_EQ(found[0].flags, static_cast<std::uint32_t>(IBV_WC_TM_DATA_VALID));
}

TEST_F(TagListTest, WhatIsBeingReadEndsIncompleteWithItsQueuePair) {
  for (const bool reset : {false, true}) {
    auto qp = *adapter_->create_queue_pair({.type = IBV_QPT_RC,
                                            .protection_domain = domain_,
                                            .send_completion_queue = queue_,
                                            .receive_completion_queue = queue_,
                                            .srq = srq_,
                                            .events = events_,
                                            .verbs_object = this,
                                            .capabilities = {}});
    add(1);
    const std::uint32_t index = match(1);
    table().at(index).rendezvous.queue_pair = qp->index();
    take(index, TagState::kDue);
    complete(index);
    bring_to(*qp, IBV_QPS_RTS);
    adapter_->serve();
    EXPECT_TRUE(completions().empty());
    ASSERT_EQ(move_to(*qp, reset ? IBV_QPS_RESET : IBV_QPS_ERR), 0);
    const auto found = completions();
    ASSERT_EQ(found.size(), 1u) << reset;
    EXPECT_EQ(found[0].status, static_cast<std::uint32_t>(IBV_WC_TM_RNDV_INCOMPLETE));
  }
}

TEST_F(TagListTest, SurvivesADescriptionThatAnotherProcessScribbledOver) {
  add(1);
  SharedSrq& shared = srq_->shared();
  shared.completing_tag = ~0u;
  mend_it();
  const std::uint32_t capacity = shared.tag_capacity;
  shared.tag_capacity = ~0u;
  EXPECT_EQ(match(1), kNoTag);
  shared.tag_capacity = capacity;
  shared.tag_end = ~0u;
  EXPECT_NE(match(1), kNoTag);
  add(2);
  shared.tag_stride = 8;
  EXPECT_EQ(match(1), kNoTag);
  shared.tag_stride = 1u << 31;
  EXPECT_EQ(match(1), kNoTag);
  shared.tags = kArenaAt - 8;
  EXPECT_EQ(match(1), kNoTag);
  adapter_->serve();
}

}  // namespace
}  // namespace gdr::rnic
