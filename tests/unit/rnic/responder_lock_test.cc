// What a holder of a responder lock who died has left half-done.
#include "rnic/delivery/responder_lock.h"

#include "adapter_fixture.h"
#include "rnic/completion_run.h"
#include "rnic/receive_ring.h"

namespace gdr::rnic {
namespace {

class ResponderLockTest : public AdapterTest {
 protected:
  static constexpr std::uint32_t kReceives = 8, kCapacity = 128;

  void SetUp() override {
    AdapterTest::SetUp();
    auto silent = adapter_->create_completion_queue({.limit = kCapacity});
    ASSERT_TRUE(silent);
    queue_ = *silent;
    queue_pair_ = queue_pair(IBV_QPT_RC);
    bring_to(*queue_pair_, IBV_QPS_INIT);
    ibv_recv_wr receive{};
    const ibv_recv_wr* bad = nullptr;
    for (std::uint32_t i = 0; i < kReceives; ++i) {
      ASSERT_EQ(queue_pair_->post_receive(&receive, &bad), 0);
    }
  }
  SharedQueuePair& shared() { return queue_pair_->shared(); }
  std::uint32_t head() { return shared().receive_head.load(); }
  // Its holder has died: whoever takes it next mends.
  void take_over() {
    shared().responder.word.store(std::uint64_t{kNobody} << 32 | 5);
    std::uint64_t word = 0;
    const Responding there{adapter_->segment(), shared(), queue_pair_->index(), kToken};
    ASSERT_EQ(take_responder(there, kToken, liveness_, 0, &word), Taken::kOrphan);
    unlock(shared().responder);
    EXPECT_EQ(shared().completing.load(), 0u);
  }
  void push(std::uint64_t id) {
    SharedCompletion one{};
    one.wr_id = id;
    queue_->push(one, false);
  }
  SixtyFour completion(std::uint32_t of_run) {
    return in_registers(ShortReceive{.wr_id = of_run,
                                     .bytes = 0,
                                     .number = queue_pair_->number(),
                                     .source = 0,
                                     .to = 0,
                                     .key = 0,
                                     .receive = head() + of_run + 1});
  }
  // As many completions as a dead initiator wrote, and whether they count.
  void write_run(std::uint32_t messages, bool they_count) {
    const While held = liveness_.while_held();
    KeptProducer kept;
    CompletionRun run;
    ASSERT_TRUE(run.begin(adapter_->segment(), queue_->index(), held, kToken, liveness_, &kept));
    for (std::uint32_t i = 0; i < messages; ++i) {
      ASSERT_TRUE(run.has_room());
      ASSERT_TRUE(run.write(held, completion(i), nullptr, 0));
    }
    ASSERT_TRUE(take_receives_while(held, shared(), messages));
    ASSERT_TRUE(!they_count || run.count(held));
    release(kept, held);
  }

  std::shared_ptr<QueuePair> queue_pair_;
};

TEST_F(ResponderLockTest, PutsBackAllReceivesOfARunThatDoesNotCount) {
  const std::uint32_t before = head();
  write_run(5, false);
  EXPECT_EQ(head(), before + 5);
  take_over();
  EXPECT_EQ(head(), before);
  std::vector<SharedCompletion> taken(kReceives);
  EXPECT_EQ(queue_->poll(taken), 0);
}

TEST_F(ResponderLockTest, PutsBackNoReceiveOfARunThatCounts) {
  const std::uint32_t before = head();
  write_run(5, true);
  take_over();
  EXPECT_EQ(head(), before + 5);
  std::vector<SharedCompletion> taken(kReceives);
  ASSERT_EQ(queue_->poll(taken), 5);
  for (std::uint32_t i = 0; i < 5; ++i) EXPECT_EQ(taken[i].wr_id, i);
}

TEST_F(ResponderLockTest, PutsBackNoReceiveOfARunThatOthersHaveOvertaken) {
  const std::uint32_t before = head();
  write_run(5, true);
  std::vector<SharedCompletion> taken(5);
  ASSERT_EQ(queue_->poll(taken), 5);
  for (std::uint32_t i = 0; i < kCapacity - 8; ++i) {
    push(i);
    ASSERT_EQ(queue_->poll(std::span(taken).first(1)), 1);
  }
  take_over();
  EXPECT_EQ(head(), before + 5);
}

TEST_F(ResponderLockTest, PutsBackNoReceiveOfARunThatNobodyHasPolled) {
  const std::uint32_t before = head();
  write_run(5, true);
  for (std::uint32_t i = 0; i < kCapacity - 8; ++i) push(i);
  take_over();
  EXPECT_EQ(head(), before + 5);
}

// Completions that were written beyond the tail lie in the ring like old ones.
TEST_F(ResponderLockTest, TakesWhatWasWrittenBeyondTheTailForNoCompletion) {
  for (std::uint32_t i = 0; i < kCapacity + 3; ++i) {
    push(i);
    std::vector<SharedCompletion> taken(1);
    ASSERT_EQ(queue_->poll(taken), 1);
  }
  const std::uint32_t before = head();
  write_run(kReceives, false);
  push(77);  // over the first of them
  take_over();
  EXPECT_EQ(head(), before);
}

TEST_F(ResponderLockTest, PutsBackOneReceiveWhereAnotherProcessHasScribbledOverTheirNumber) {
  write_run(1, false);
  const std::uint32_t after = head();
  shared().completing.store(receives_taken(after - 1000, after));
  take_over();
  EXPECT_EQ(head(), after - 1);
}

TEST_F(ResponderLockTest, PutsNothingBackWhereNothingWasTaken) {
  const std::uint32_t before = head();
  take_over();
  EXPECT_EQ(head(), before);
}

using CompletionRunTest = ResponderLockTest;

TEST_F(CompletionRunTest, HasNoMoreRoomThanItsQueue) {
  auto small = adapter_->create_completion_queue({.limit = 16});
  ASSERT_TRUE(small);
  const While held = liveness_.while_held();
  KeptProducer kept;
  CompletionRun run;
  ASSERT_TRUE(run.begin(adapter_->segment(), (*small)->index(), held, kToken, liveness_, &kept));
  std::uint32_t written = 0;
  while (run.has_room() && written < kCapacity) {
    ASSERT_TRUE(run.write(held, completion(written++), nullptr, 0));
  }
  EXPECT_EQ(written, most_together(16));
  release(kept, held);
}

TEST_F(CompletionRunTest, DoesNotBeginWhereSomebodyMayWaitForEvents) {
  const auto told = completion_queue(64);
  const While held = liveness_.while_held();
  KeptProducer kept;
  CompletionRun run;
  EXPECT_FALSE(run.begin(adapter_->segment(), told->index(), held, kToken, liveness_, &kept));
  EXPECT_EQ(kept.lock, nullptr);
}

}  // namespace
}  // namespace gdr::rnic
