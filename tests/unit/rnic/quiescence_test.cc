// What ends a queue pair or a region returns only once nobody copies for it any more: not an
// initiator that holds the responder lock, nor this process's own threads.
#include <future>

#include "adapter_fixture.h"
#include "base/clock.h"

namespace gdr::rnic {
namespace {

constexpr Token kInitiator = make_token(5, 5);

class RnicQuiescenceTest : public AdapterTest {
 protected:
  // Whether `end` returns only after the initiator has let go of the responder lock.
  template <typename End>
  bool waits_for_the_initiator(QueuePair& qp, End end) {
    lock(qp.shared().responder, kInitiator, liveness_, HeldFor::kCopies, kToken);
    std::atomic<bool> released{false};
    auto ended = std::async(std::launch::async, [&] {
      end();
      return released.load();
    });
    const bool early = ended.wait_for(std::chrono::milliseconds(50)) == std::future_status::ready;
    released.store(true);
    unlock(qp.shared().responder);
    return ended.get() && !early;
  }
};

TEST_F(RnicQuiescenceTest, MovingToErrorWaitsForTheInitiatorAndTheOwnThreads) {
  auto qp = queue_pair(IBV_QPT_RC);
  bring_to(*qp, IBV_QPS_RTS);
  const int settles = path_.settles;
  EXPECT_TRUE(waits_for_the_initiator(*qp, [&] { move_to(*qp, IBV_QPS_ERR); }));
  EXPECT_GT(path_.settles, settles);
}

// Who put it into error was an initiator's report, or a request of its own that failed: neither
// waited for those that were still copying.
TEST_F(RnicQuiescenceTest, MovingToErrorWaitsThoughTheQueuePairIsInErrorAlready) {
  auto qp = queue_pair(IBV_QPT_RC);
  bring_to(*qp, IBV_QPS_RTS);
  qp->shared().failure.store(static_cast<std::uint32_t>(Failure::kReported));
  adapter_->serve();
  ASSERT_EQ(qp->state(), IBV_QPS_ERR);
  const int settles = path_.settles;
  EXPECT_TRUE(waits_for_the_initiator(*qp, [&] { move_to(*qp, IBV_QPS_ERR); }));
  EXPECT_GT(path_.settles, settles);
}

TEST_F(RnicQuiescenceTest, ResettingWaitsForTheInitiatorAndTheOwnThreads) {
  auto qp = queue_pair(IBV_QPT_RC);
  bring_to(*qp, IBV_QPS_RTS);
  const int settles = path_.settles;
  EXPECT_TRUE(waits_for_the_initiator(*qp, [&] { move_to(*qp, IBV_QPS_RESET); }));
  EXPECT_GT(path_.settles, settles);
}

TEST_F(RnicQuiescenceTest, DestroyingWaitsForTheInitiatorAndTheOwnThreads) {
  auto qp = queue_pair(IBV_QPT_RC);
  bring_to(*qp, IBV_QPS_RTS);
  const int settles = path_.settles;
  EXPECT_TRUE(waits_for_the_initiator(*qp, [&] { adapter_->destroy_queue_pair(*qp); }));
  EXPECT_GT(path_.settles, settles);
}

TEST_F(RnicQuiescenceTest, DeregistrationWaitsForTheInitiatorAndTheOwnThreads) {
  auto qp = queue_pair(IBV_QPT_RC);
  bring_to(*qp, IBV_QPS_RTS);
  std::vector<std::uint8_t> memory(4096);
  const auto address = reinterpret_cast<std::uint64_t>(memory.data());
  RegionAttributes attributes{};
  attributes.protection_domain = domain_;
  attributes.iova = address;
  attributes.length = memory.size();
  attributes.access = IBV_ACCESS_LOCAL_WRITE;
  auto key = adapter_->register_memory(address, attributes);
  ASSERT_TRUE(key) << key.error().message;
  const int settles = path_.settles;
  EXPECT_TRUE(waits_for_the_initiator(*qp, [&] { (void)adapter_->deregister(*key); }));
  EXPECT_GT(path_.settles, settles);
}

// An XRC request against this process's memory holds no queue pair of it.
TEST_F(RnicQuiescenceTest, CopiesInProgressAreAlsoThoseThatHoldASharedReceiveQueue) {
  auto srq = adapter_->create_srq({.protection_domain = domain_,
                                   .completion_queue = queue_,
                                   .xrc_domain = {.device = 1, .file_system = 1, .file = 1},
                                   .events = events_});
  ASSERT_TRUE(srq);
  EXPECT_TRUE(adapter_->copies_in_progress().empty());
  SharedLock& consumer = (*srq)->shared().consumer;
  lock(consumer, kInitiator, liveness_, HeldFor::kCopies, kToken);
  const std::vector<CopyInProgress> copies = adapter_->copies_in_progress();
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_FALSE(has_ended(*copies[0].lock, copies[0].holding, liveness_));
  unlock(consumer);
  EXPECT_TRUE(has_ended(*copies[0].lock, copies[0].holding, liveness_));
}

// An initiator that died after its completion was in place, and before it marked the event.
TEST_F(RnicQuiescenceTest, AnEventThatADeadInitiatorDidNotMarkIsDelivered) {
  queue_->request_notification(false);
  SharedCompletionQueue& shared = adapter_->segment().completion_queue(queue_->index());
  adapter_->deliver_missed_events();
  EXPECT_EQ(notifications_, 0);  // nothing has come
  shared.tail.store(shared.tail.load() + 1);
  adapter_->deliver_missed_events();
  EXPECT_EQ(notifications_, 1);
  adapter_->deliver_missed_events();
  EXPECT_EQ(notifications_, 1);  // one event for one request
}

// Any death asks for what was missed; that is no reason for an event that nobody asked for.
TEST_F(RnicQuiescenceTest, ADeathMakesNoEventThatTheArmingDoesNotAskFor) {
  SharedCompletion completion{};
  queue_->request_notification(true);
  queue_->push(completion, false);
  adapter_->deliver_missed_events();
  EXPECT_EQ(notifications_, 0);  // it was not solicited
  completion.status = IBV_WC_WR_FLUSH_ERR;
  queue_->push(completion, false);
  EXPECT_EQ(notifications_, 1);
  EXPECT_EQ(completions().size(), 2u);
  queue_->moderate(3, 3600 * kSecond);
  queue_->request_notification(false);
  queue_->push(completion, false);
  adapter_->deliver_missed_events();
  EXPECT_EQ(notifications_, 1);  // it is held back until the period is over
  EXPECT_EQ(completions()[0].flags, 0u);
}

}  // namespace
}  // namespace gdr::rnic
