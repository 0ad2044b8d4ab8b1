// A shared receive queue: who gets a receive, and that none is lost or given out twice, whenever
// whoever takes it dies.
#include "rnic/srq.h"

#include <fcntl.h>
#include <unistd.h>

#include <thread>
#include <utility>

#include "adapter_fixture.h"

namespace gdr::rnic {
namespace {

class SrqTest : public AdapterTest {
 protected:
  void SetUp() override {
    AdapterTest::SetUp();
    auto made = adapter_->create_srq({.protection_domain = domain_,
                                      .max_requests = 8,
                                      .max_segments = 2,
                                      .events = events_,
                                      .verbs_object = &srq_});
    ASSERT_TRUE(made);
    srq_ = *made;
    first_ = taker();
    second_ = taker();
  }

  std::shared_ptr<QueuePair> taker() {
    ibv_qp_cap capabilities{};
    capabilities.max_send_wr = 8;
    auto made = adapter_->create_queue_pair({.type = IBV_QPT_RC,
                                             .protection_domain = domain_,
                                             .send_completion_queue = queue_,
                                             .receive_completion_queue = queue_,
                                             .srq = srq_,
                                             .events = events_,
                                             .verbs_object = this,
                                             .capabilities = capabilities});
    EXPECT_TRUE(made);
    bring_to(**made, IBV_QPS_RTS);
    return *made;
  }

  int post(std::uint64_t id, int segments = 0) {
    ibv_sge list[4] = {{0x1000, 16, 7}, {0x2000, 32, 8}, {}, {}};
    ibv_recv_wr request{.wr_id = id, .next = nullptr, .sg_list = list, .num_sge = segments};
    const ibv_recv_wr* bad = nullptr;
    return srq_->post(&request, &bad);
  }
  void post_many(std::uint64_t first, int count) {
    for (int i = 0; i < count; ++i) ASSERT_EQ(post(first + static_cast<std::uint64_t>(i)), 0);
  }

  SrqTake take(QueuePair& qp) {
    return take_receive(adapter_->segment(), srq_->index(), qp.index(), kToken, liveness_);
  }
  // The receives in the queue pair's own ring; takes them off it.
  std::vector<std::uint64_t> taken(QueuePair& qp) {
    std::vector<std::uint64_t> found;
    SharedQueuePair& shared = qp.shared();
    const ReceiveRing ring(adapter_->segment(), shared);
    for (; shared.receive_head != shared.receive_tail; ++shared.receive_head) {
      found.push_back(ring.at(shared.receive_head).wr_id);
    }
    return found;
  }
  std::vector<ibv_event_type> events() {
    std::vector<ibv_event_type> found;
    adapter_->serve();
    fcntl(events_->descriptor(), F_SETFL, O_NONBLOCK);
    while (Result<Event> event = events_->take()) found.push_back(event->type);
    return found;
  }

  std::shared_ptr<Srq> xrc_srq(std::shared_ptr<CompletionQueue> completions) {
    auto made = adapter_->create_srq({.protection_domain = domain_,
                                      .max_requests = 8,
                                      .max_segments = 2,
                                      .completion_queue = std::move(completions),
                                      .xrc_domain = {.device = 1, .file_system = 1, .file = 1},
                                      .events = events_,
                                      .verbs_object = &srq_});
    EXPECT_TRUE(made);
    return *made;
  }
  // As an XRC initiator does it that dies before it has pushed the completion.
  static std::uint32_t take_and_die(Srq& srq) {
    SharedSrq& shared = srq.shared();
    const std::uint32_t head = shared.receive_head + 1;
    shared.completing = head;
    shared.receive_head = head;
    return head;
  }
  void mend_it() { mend(adapter_->segment(), srq_->index(), kToken, liveness_); }
  std::uint64_t first_id() {
    const ReceiveRing ring(adapter_->segment(), srq_->shared());
    return ring.at(srq_->shared().receive_head).wr_id;
  }
  void push_completion_of(std::uint32_t receive, std::uint32_t srq) {
    SharedCompletion completion{};
    completion.receive = receive;
    completion.srq = static_cast<std::uint16_t>(srq);
    queue_->push(completion, false);
  }

  using Ids = std::vector<std::uint64_t>;
  std::shared_ptr<Srq> srq_;
  std::shared_ptr<QueuePair> first_, second_;
};

TEST_F(SrqTest, GivesEachReceiveToOneTakerInTheirOrder) {
  post_many(1, 3);
  EXPECT_EQ(take(*first_), SrqTake::kTaken);
  EXPECT_EQ(take(*second_), SrqTake::kTaken);
  EXPECT_EQ(taken(*first_), Ids{1});
  EXPECT_EQ(taken(*second_), Ids{2});
  EXPECT_EQ(take(*first_), SrqTake::kTaken);
  EXPECT_EQ(take(*second_), SrqTake::kNone);
  EXPECT_EQ(taken(*first_), Ids{3});
}

TEST_F(SrqTest, CopiesTheSegmentsOfAReceive) {
  ASSERT_EQ(post(1, 2), 0);
  ASSERT_EQ(take(*first_), SrqTake::kTaken);
  const SharedReceive& receive = ReceiveRing(adapter_->segment(), first_->shared()).at(0);
  ASSERT_EQ(receive.segments, 2u);
  EXPECT_EQ(receive.segment[1].address, 0x2000u);
  EXPECT_EQ(receive.segment[1].length, 32u);
  EXPECT_EQ(receive.segment[1].key, 8u);
}

TEST_F(SrqTest, RefusesWhatDoesNotFit) {
  EXPECT_EQ(post(1, 3), EINVAL);
  EXPECT_EQ(post(1, -1), EINVAL);
  post_many(1, 15);
  EXPECT_EQ(post(16), ENOMEM);
  ASSERT_EQ(take(*first_), SrqTake::kTaken);
  EXPECT_EQ(post(16), 0);
}

TEST_F(SrqTest, KeepsWhatWasBeingTakenByOneThatDiedBeforeItWasTaken) {
  post_many(1, 1);
  SharedSrq& shared = srq_->shared();
  shared.taking_from = 0;
  shared.taking_to = 0;
  shared.taking = first_->index() + 1;
  EXPECT_EQ(take(*second_), SrqTake::kTaken);
  EXPECT_EQ(taken(*second_), Ids{1});
  EXPECT_EQ(taken(*first_), Ids{});
}

TEST_F(SrqTest, HandsOverWhatWasTakenByOneThatDiedBeforeItArrived) {
  post_many(1, 2);
  ASSERT_EQ(take(*first_), SrqTake::kTaken);
  // As it was a moment before the last two steps of that.
  SharedSrq& shared = srq_->shared();
  first_->shared().receive_tail = 0;
  shared.taking = first_->index() + 1;
  EXPECT_EQ(take(*second_), SrqTake::kTaken);
  EXPECT_EQ(taken(*second_), Ids{2});
  EXPECT_EQ(taken(*first_), Ids{1});
}

TEST_F(SrqTest, FindsWhatWasTakenForTheSameQueuePairThoughNothingElseIsPosted) {
  post_many(1, 1);
  ASSERT_EQ(take(*first_), SrqTake::kTaken);
  first_->shared().receive_tail = 0;
  srq_->shared().taking = first_->index() + 1;
  EXPECT_EQ(take(*first_), SrqTake::kTaken);
  EXPECT_EQ(taken(*first_), Ids{1});
}

TEST_F(SrqTest, DoesNotHandOverTwiceWhatArrivedBeforeTheDeath) {
  post_many(1, 2);
  ASSERT_EQ(take(*first_), SrqTake::kTaken);
  EXPECT_EQ(taken(*first_), Ids{1});
  srq_->shared().taking = first_->index() + 1;  // all but the last step
  EXPECT_EQ(take(*second_), SrqTake::kTaken);
  EXPECT_EQ(taken(*second_), Ids{2});
  EXPECT_EQ(taken(*first_), Ids{});
}

TEST_F(SrqTest, PutsBackWhatAnXrcInitiatorTookAndDidNotComplete) {
  srq_ = xrc_srq(queue_);
  post_many(1, 2);
  take_and_die(*srq_);
  mend_it();
  EXPECT_EQ(first_id(), 1u);
  mend_it();
  EXPECT_EQ(first_id(), 1u);
}

TEST_F(SrqTest, DoesNotPutBackWhatAnXrcInitiatorCompleted) {
  srq_ = xrc_srq(queue_);
  post_many(1, 2);
  push_completion_of(take_and_die(*srq_), srq_->index() + 1);
  mend_it();
  EXPECT_EQ(first_id(), 2u);
}

TEST_F(SrqTest, TakesNoOthersCompletionForThatOfItsReceive) {
  srq_ = xrc_srq(queue_);
  post_many(1, 2);
  const std::uint32_t head = take_and_die(*srq_);
  push_completion_of(head, 0);
  push_completion_of(head, srq_->index() + 2);
  push_completion_of(head + 1, srq_->index() + 1);
  mend_it();
  EXPECT_EQ(first_id(), 1u);
}

// What its owner posts between the death and the mending.
TEST_F(SrqTest, HasAPlaceForWhatComesBack) {
  srq_ = xrc_srq(queue_);
  post_many(1, 15);
  EXPECT_EQ(post(16), ENOMEM);
  EXPECT_EQ(srq_->query().max_wr, 15u);
  take_and_die(*srq_);
  post_many(16, 1);
  EXPECT_EQ(srq_->resize(16), 0);  // mends it
  EXPECT_EQ(srq_->shared().receive_tail - srq_->shared().receive_head, 16u);
  EXPECT_EQ(first_id(), 1u);
  post_many(17, 15);
  EXPECT_EQ(post(32), ENOMEM);
}

// Or a completion of the former one would pass for one of the present one.
TEST_F(SrqTest, CountsOnWhereTheFormerOneInItsPlaceEnded) {
  srq_ = xrc_srq(queue_);
  post_many(1, 2);
  const std::uint32_t index = srq_->index();
  const std::uint32_t tail = srq_->shared().receive_tail;
  adapter_->destroy_srq(*srq_);
  do {
    srq_ = nullptr;
    srq_ = xrc_srq(queue_);
    if (srq_->index() != index) adapter_->destroy_srq(*srq_);
  } while (srq_->index() != index);
  EXPECT_EQ(srq_->shared().receive_head, tail);
  post_many(5, 1);
  EXPECT_EQ(srq_->shared().receive_tail, tail + 1);
  EXPECT_EQ(first_id(), 5u);
}

TEST_F(SrqTest, RaisesItsLimitOncePerArming) {
  post_many(1, 4);
  EXPECT_EQ(srq_->set_limit(3), 0);
  EXPECT_EQ(srq_->query().srq_limit, 3u);
  EXPECT_EQ(take(*first_), SrqTake::kTaken);  // three are left: not fewer
  EXPECT_EQ(events(), std::vector<ibv_event_type>{});
  EXPECT_EQ(take(*second_), SrqTake::kLimitReached);
  EXPECT_EQ(srq_->query().srq_limit, 0u);
  taken(*first_);
  EXPECT_EQ(take(*first_), SrqTake::kTaken);
  EXPECT_EQ(events(), std::vector<ibv_event_type>{IBV_EVENT_SRQ_LIMIT_REACHED});
  EXPECT_EQ(srq_->set_limit(16), EINVAL);
}

TEST_F(SrqTest, RaisesALimitThatIsReachedWhenItIsArmed) {
  post_many(1, 1);
  EXPECT_EQ(srq_->set_limit(2), 0);
  EXPECT_EQ(events(), std::vector<ibv_event_type>{IBV_EVENT_SRQ_LIMIT_REACHED});
}

TEST_F(SrqTest, KeepsADueEventThroughTheNextArming) {
  EXPECT_EQ(srq_->set_limit(2), 0);
  EXPECT_EQ(srq_->set_limit(0), 0);
  EXPECT_EQ(events(), std::vector<ibv_event_type>{IBV_EVENT_SRQ_LIMIT_REACHED});
}

TEST_F(SrqTest, WakesEveryoneWhoWaitsAndThenNobody) {
  for (const std::uint32_t slot : {5u, 64u, 1023u}) {
    wait_for_post(srq_->shared(), make_token(slot, 9));
  }
  post_many(1, 1);
  EXPECT_EQ(path_.woken, (std::vector<std::uint32_t>{5, 64, 1023}));
  post_many(2, 1);
  EXPECT_EQ(path_.woken.size(), 3u);
}

TEST_F(SrqTest, KeepsItsReceivesWhenItIsResized) {
  post_many(1, 6);
  ASSERT_EQ(take(*first_), SrqTake::kTaken);
  EXPECT_EQ(srq_->resize(4), EINVAL);  // five are there
  EXPECT_EQ(srq_->resize(100), 0);
  EXPECT_EQ(srq_->query().max_wr, 127u);
  post_many(7, 122);
  EXPECT_EQ(post(0), ENOMEM);
  taken(*first_);
  for (std::uint64_t id = 2; id < 129; ++id) {
    ASSERT_NE(take(*first_), SrqTake::kNone);
    ASSERT_EQ(taken(*first_), Ids{id});
  }
  EXPECT_EQ(srq_->resize(1), 0);
  EXPECT_EQ(srq_->resize(0), EINVAL);
  EXPECT_EQ(srq_->resize(kMaxSrqRequests + 1), EINVAL);
}

TEST_F(SrqTest, FlushesOnlyWhatAFailedQueuePairHasTaken) {
  post_many(1, 2);
  ASSERT_EQ(take(*first_), SrqTake::kTaken);
  ASSERT_EQ(move_to(*first_, IBV_QPS_ERR), 0);
  EXPECT_EQ(events(), std::vector<ibv_event_type>{IBV_EVENT_QP_LAST_WQE_REACHED});
  EXPECT_EQ(ids(IBV_WC_WR_FLUSH_ERR), Ids{1});
  ASSERT_EQ(move_to(*first_, IBV_QPS_ERR), 0);
  EXPECT_EQ(events(), std::vector<ibv_event_type>{});
  EXPECT_EQ(take(*second_), SrqTake::kTaken);
  EXPECT_EQ(taken(*second_), Ids{2});
}

TEST_F(SrqTest, IsHadInPlaceOfTheOneThatSomebodyStillLooksAt) {
  const auto make = [this] {
    return adapter_->create_srq({.protection_domain = domain_,
                                 .max_requests = 1,
                                 .max_segments = 1,
                                 .events = events_,
                                 .verbs_object = this});
  };
  std::vector<std::shared_ptr<Srq>> all;
  for (auto one = make(); one; one = make()) all.push_back(*one);
  EXPECT_EQ(all.size(), kSrqs - 1);
  adapter_->destroy_srq(*all.back());
  std::thread looks([held = std::exchange(all.back(), nullptr)]() mutable {
    usleep(20'000);
    held.reset();
  });
  EXPECT_TRUE(make());
  looks.join();
}

TEST_F(SrqTest, GivesAQueuePairNoReceivesOfItsOwn) {
  EXPECT_EQ(post_receive(*first_, 1), EINVAL);
  EXPECT_EQ(first_->settings().capabilities.max_recv_wr, 0u);
}

TEST_F(SrqTest, SurvivesADescriptionThatAnotherProcessScribbledOver) {
  post_many(1, 1);
  SharedSrq& shared = srq_->shared();
  for (const std::uint32_t wrong : {0u, 3u, 1u << 31}) {
    shared.receive_capacity = wrong;
    EXPECT_EQ(take(*first_), SrqTake::kNone) << wrong;
  }
  shared.receive_capacity = 8;
  shared.receive_ring = kArenaAt - 64;
  EXPECT_EQ(take(*first_), SrqTake::kNone);
  shared.taking = ~0u;
  EXPECT_EQ(take(*first_), SrqTake::kNone);
}

}  // namespace
}  // namespace gdr::rnic
