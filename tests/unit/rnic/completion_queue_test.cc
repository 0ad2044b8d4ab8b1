#include "rnic/completion_queue.h"

#include <poll.h>
#include <unistd.h>

#include <thread>

#include "completion_queue_fixture.h"
#include "rnic/device_clock.h"
#include "soon.h"

namespace gdr::rnic {
namespace {

TEST_F(CompletionQueueTest, KeepsTheOrderRoundAfterRound) {
  queue_ = completion_queue(5);  // not a power of two
  std::uint64_t next = 0, expected = 0;
  for (int round = 0; round < 1000; ++round) {
    for (int i = 0; i <= round % 5; ++i) push(next++);
    for (const std::uint64_t id : taken()) EXPECT_EQ(id, expected++);
  }
  EXPECT_EQ(next, expected);
  EXPECT_FALSE(queue_->overrun());
}

TEST_F(CompletionQueueTest, TakesNoMoreThanThereIsRoomFor) {
  for (std::uint64_t i = 0; i < 5; ++i) push(i);
  SharedCompletion two[2];
  EXPECT_EQ(queue_->poll(two), 2);
  EXPECT_EQ(two[1].wr_id, 1u);
  EXPECT_EQ(taken(), (Ids{2, 3, 4}));
}

TEST_F(CompletionQueueTest, HoldsExactlyItsLimitAndIsInErrorBeyond) {
  queue_ = completion_queue(3);
  for (std::uint64_t i = 0; i < 3; ++i) push(i);
  EXPECT_FALSE(queue_->overrun());
  push(3);
  EXPECT_TRUE(queue_->overrun());
  EXPECT_EQ(taken(), (Ids{0, 1, 2}));  // what was there is not lost
  SharedCompletion one[1];
  EXPECT_LT(queue_->poll(one), 0);
}

TEST_F(CompletionQueueTest, AnOverrunIsToldOnceAsAnEvent) {
  queue_ = completion_queue(1);
  adapter_->watch_overrun(*queue_, events_, this);
  push(0), push(1), push(2);
  adapter_->serve();
  adapter_->serve();
  auto event = events_->take();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->type, IBV_EVENT_CQ_ERR);
  EXPECT_EQ(event->object, this);
  pollfd wait{.fd = events_->descriptor(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&wait, 1, 0), 0);
}

TEST_F(CompletionQueueTest, PurgesOneQueuePairAndKeepsTheOrderOfTheOthers) {
  queue_ = completion_queue(8);
  for (std::uint64_t i = 0; i < 6; ++i) push(i);
  (void)taken();  // so that the rest lies around the ring's end
  for (std::uint64_t i = 0; i < 8; ++i) push(i, i % 3 == 0 ? 42 : 1);
  queue_->purge(42);
  for (std::uint64_t i = 8; i < 11; ++i) push(i);  // what was purged made room at once
  EXPECT_FALSE(queue_->overrun());
  EXPECT_EQ(taken(), (Ids{1, 2, 4, 5, 7, 8, 9, 10}));
}

TEST_F(CompletionQueueTest, LosesNothingToManyProducers) {
  constexpr std::uint64_t kEach = 20'000;
  queue_ = completion_queue(1024);
  std::vector<std::thread> producers;
  for (std::uint64_t producer = 0; producer < 3; ++producer) {
    producers.emplace_back([&, producer] {
      for (std::uint64_t i = 0; i < kEach; ++i) {
        const SharedCompletionQueue& shared = adapter_->segment().completion_queue(queue_->index());
        while (shared.tail.load() - shared.head.load() > 1000) sched_yield();
        push(producer << 32 | i);
      }
    });
  }
  std::uint64_t next[3] = {};
  for (std::uint64_t seen = 0; seen < 3 * kEach && !HasFailure();) {
    for (const std::uint64_t id : taken()) {
      EXPECT_EQ(id & 0xffff'ffff, next[id >> 32]++);
      ++seen;
    }
  }
  for (std::thread& producer : producers) producer.join();
  EXPECT_TRUE(taken().empty());
}

TEST_F(CompletionQueueTest, KeepsWhatItHoldsInOrderWhenItIsResized) {
  queue_ = completion_queue(5);
  for (std::uint64_t i = 0; i < 3; ++i) push(i);
  (void)taken();  // so that the rest lies around the ring's end
  for (std::uint64_t i = 0; i < 5; ++i) push(i);
  ASSERT_TRUE(queue_->resize(40));
  EXPECT_EQ(queue_->limit(), 40u);
  for (std::uint64_t i = 5; i < 40; ++i) push(i);
  EXPECT_FALSE(queue_->overrun());
  const Ids found = taken();
  ASSERT_EQ(found.size(), 40u);
  for (std::uint64_t i = 0; i < 40; ++i) EXPECT_EQ(found[i], i);
  for (std::uint64_t i = 0; i < 3; ++i) push(i);
  ASSERT_TRUE(queue_->resize(3));
  EXPECT_EQ(taken(), (Ids{0, 1, 2}));
  for (std::uint64_t i = 0; i < 4; ++i) push(i);
  EXPECT_TRUE(queue_->overrun());  // the smaller limit holds
}

TEST_F(CompletionQueueTest, IsNotResizedBelowWhatItHoldsOrBeyondTheDevice) {
  queue_ = completion_queue(8);
  for (std::uint64_t i = 0; i < 6; ++i) push(i);
  for (const std::uint32_t limit : {0u, 1u, 5u, kMaxCompletions + 1}) {
    const Result<void> resized = queue_->resize(limit);
    ASSERT_FALSE(resized) << limit;
    EXPECT_EQ(resized.error().code, EINVAL);
  }
  EXPECT_EQ(queue_->limit(), 8u);
  EXPECT_EQ(taken(), (Ids{0, 1, 2, 3, 4, 5}));
  adapter_->segment().completion_queue(queue_->index()).tail.store(0x8000'0000);
  EXPECT_FALSE(queue_->resize(kMaxCompletions));  // a scribbled tail is not believed
}

TEST_F(CompletionQueueTest, LosesWhatFindsNoRoomWithoutAnErrorWhenItIsToIgnoreOverruns) {
  queue_ = completion_queue(2, kIgnoresOverrun);
  for (std::uint64_t i = 0; i < 5; ++i) push(i);
  EXPECT_FALSE(queue_->overrun());
  EXPECT_EQ(taken(), (Ids{0, 1}));
  push(5);
  EXPECT_EQ(taken(), (Ids{5}));
}

TEST_F(CompletionQueueTest, StampsWithTheClocksItWasAskedForAndNoOthers) {
  queue_ = completion_queue(8, kRecordsDeviceTime | kRecordsWallTime);
  const std::uint64_t device = device_clock(), wall = wall_clock();
  push(0), push(1);
  SharedCompletion found[2];
  CompletionNotes times[2];
  ASSERT_EQ(queue_->poll(found, times), 2);
  EXPECT_GE(times[0].device_time, device);
  EXPECT_GE(times[1].device_time, times[0].device_time);
  EXPECT_LE(times[1].device_time, device_clock());
  EXPECT_GE(times[0].wall_time, wall);
  EXPECT_LE(times[1].wall_time, wall_clock());
  queue_ = completion_queue(8);
  push(0);
  ASSERT_EQ(queue_->poll(found, times), 1);
  EXPECT_EQ(times[0].device_time, 0u);
  EXPECT_EQ(times[0].wall_time, 0u);
}

TEST_F(CompletionQueueTest, TakesItsQueuePairsToErrorWhenItOverruns) {
  const auto victim = queue_pair(IBV_QPT_RC);
  bring_to(*victim, IBV_QPS_RTS);
  const auto lost = queue_;
  queue_ = completion_queue(1);
  const auto other = queue_pair(IBV_QPT_RC);
  bring_to(*other, IBV_QPS_RTS);
  ASSERT_EQ(post_send(*other, 1), 0);
  push(0), push(1);
  while (adapter_->serve()) {
  }
  EXPECT_EQ(other->state(), IBV_QPS_ERR);
  EXPECT_EQ(victim->state(), IBV_QPS_RTS);
  auto event = events_->take();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->type, IBV_EVENT_QP_FATAL);
  EXPECT_EQ(move_to(*other, IBV_QPS_RESET), 0);
  EXPECT_FALSE(adapter_->serve());
  pollfd wait{.fd = events_->descriptor(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&wait, 1, 0), 0);
}

TEST_F(CompletionQueueTest, AScribbledTailIsAnErrorAndNotARead) {
  push(0);
  adapter_->segment().completion_queue(queue_->index()).tail.store(0x8000'0000);
  SharedCompletion one[1];
  EXPECT_LT(queue_->poll(one), 0);
  queue_->purge(1);
}

TEST_F(CompletionQueueTest, AScribbledDescriptionTakesNoPush) {
  SharedCompletionQueue& shared = adapter_->segment().completion_queue(queue_->index());
  const auto push_to = [&] {
    return push_completion(adapter_->segment(), queue_->index(), entry(1), {}, false, kToken,
                           liveness_);
  };
  const std::uint64_t ring = shared.ring;
  shared.ring = kSegmentBytes - 64;
  EXPECT_EQ(push_to(), Push::kOverrun);
  shared.ring = ring;
  shared.capacity = 3;
  EXPECT_EQ(push_to(), Push::kOverrun);
  shared.capacity = 0;
  EXPECT_EQ(push_to(), Push::kOverrun);
  shared.capacity = 1u << 31;
  EXPECT_EQ(push_to(), Push::kOverrun);
}

// A process that dies while it pushes leaves an entry that nobody may count.
TEST_F(CompletionQueueTest, KnowsWhichReceivesHaveCompletedAndNoneThatIsHalfWritten) {
  queue_ = completion_queue(4);
  const auto completed = [&] {
    return has_completed(adapter_->segment(), queue_->index(), {.qp_number = 7, .receive = 3},
                         kToken, liveness_);
  };
  SharedCompletion receive = entry(1, 7);
  receive.receive = 3;
  auto* ring = static_cast<SharedCompletion*>(adapter_->segment().arena(
      adapter_->segment().completion_queue(queue_->index()).ring, sizeof(SharedCompletion)));
  ring[0] = receive;
  EXPECT_FALSE(completed());
  queue_->push(receive, false);
  EXPECT_TRUE(completed());
  EXPECT_EQ(completions().size(), 1u);
  EXPECT_TRUE(completed());  // polled, and there all the same
}

class MarkedCompletions : public CompletionQueueTest {
 protected:
  // A whole round and one more, so that marks are believed.
  void SetUp() override {
    CompletionQueueTest::SetUp();
    auto queue = adapter_->create_completion_queue({.limit = kCapacity});  // it raises no events
    ASSERT_TRUE(queue);
    queue_ = *queue;
    for (; next_ < 2 * kCapacity; ++next_) {
      push(next_);
      ASSERT_EQ(taken(), (Ids{next_}));
    }
  }
  SharedCompletion& place(std::uint64_t position) {
    auto* ring = static_cast<SharedCompletion*>(
        adapter_->segment().arena(shared().ring, kCapacity * sizeof(SharedCompletion)));
    return ring[position % kCapacity];
  }
  SharedCompletionQueue& shared() { return adapter_->segment().completion_queue(queue_->index()); }

  static constexpr std::uint32_t kCapacity = 4;
  std::uint64_t next_ = 0;
};

TEST_F(MarkedCompletions, AreTakenInOrderRoundAfterRound) {
  for (std::uint64_t expected = next_; expected < 500;) {
    for (std::uint64_t i = 0; i <= expected % kCapacity && i < kCapacity; ++i) push(next_++);
    for (const std::uint64_t id : taken()) EXPECT_EQ(id, expected++);
    ASSERT_EQ(expected, next_);
  }
}

// Its producer may have died, or have been cut off, between counting it and marking it.
TEST_F(MarkedCompletions, AreFoundByTheTailWhereTheMarkIsMissing) {
  push(next_);
  place(next_).mark = 0;
  Ids found;
  EXPECT_TRUE(test::soon([&] { return !(found = taken()).empty(); }));
  EXPECT_EQ(found, (Ids{next_}));
  push(next_ + 1);
  EXPECT_EQ(taken(), (Ids{next_ + 1}));
}

TEST_F(MarkedCompletions, AreNotTakenBeforeTheirOwnRound) {
  for (std::uint32_t polls = 0; polls < 3 * kPollsForALook; ++polls) EXPECT_EQ(taken(), Ids{});
  // Half written, by one who died: all but the mark.
  const std::uint16_t before = place(next_).mark;
  place(next_) = entry(99);
  EXPECT_EQ(taken(), Ids{});
  place(next_).mark = before;
  EXPECT_EQ(taken(), Ids{});
}

TEST_F(MarkedCompletions, AreFollowedByTheErrorOnceAnOverrunIsTold) {
  adapter_->watch_overrun(*queue_, events_, this);
  for (std::uint32_t i = 0; i <= kCapacity; ++i) push(next_ + i);
  adapter_->serve();
  EXPECT_TRUE(events_->take());
  EXPECT_EQ(taken().size(), kCapacity);
  SharedCompletion one[1];
  EXPECT_LT(queue_->poll(one), 0);
}

// What stays moves to other positions, whose marks are others.
TEST_F(MarkedCompletions, AreTakenOnceAfterAPurge) {
  push(next_), push(next_ + 1);
  EXPECT_EQ(taken(), (Ids{next_, next_ + 1}));
  push(next_ + 2), push(next_ + 3), push(next_ + 4, 42), push(next_ + 5, 42);
  queue_->purge(42);  // the others move into the next round
  for (const std::uint64_t id : {next_ + 2, next_ + 3}) {
    SharedCompletion one[1];
    ASSERT_EQ(queue_->poll(one), 1);
    EXPECT_EQ(one[0].wr_id, id);
  }
  for (std::uint64_t id = 100; id < 100 + 5 * kCapacity; ++id) {
    EXPECT_EQ(taken(), Ids{});
    push(id);
    EXPECT_EQ(taken(), (Ids{id}));
  }
}

TEST_F(MarkedCompletions, AreTakenOnceAfterAResize) {
  push(next_), push(next_ + 1);
  ASSERT_TRUE(queue_->resize(8));
  EXPECT_EQ(taken(), (Ids{next_, next_ + 1}));
  for (std::uint64_t id = 100; id < 140; ++id) {
    EXPECT_EQ(taken(), Ids{});
    push(id);
    EXPECT_EQ(taken(), (Ids{id}));
  }
}

// Whoever may write into the segment may say anything of what a completion carries.
TEST_F(CompletionQueueTest, PlacesNothingOfAForgedCompletionOutsideTheRegionItNames) {
  std::vector<std::uint8_t> memory(3 * 4096, 0x11);
  const auto address = reinterpret_cast<std::uint64_t>(memory.data()) + 4096;
  const auto key = [&](std::uint32_t access) {
    RegionAttributes attributes{};
    attributes.protection_domain = domain_;
    attributes.iova = address;
    attributes.length = 4096;
    attributes.access = access;
    return *adapter_->register_memory(address, attributes);
  };
  const std::uint32_t writable = key(IBV_ACCESS_LOCAL_WRITE), readable = key(0);
  const std::uint32_t gone = key(IBV_ACCESS_LOCAL_WRITE);
  ASSERT_TRUE(adapter_->deregister(gone));
  std::byte bytes[kCarriedBytes];
  std::memset(bytes, 0x77, sizeof bytes);
  const auto push = [&](std::uint32_t to_key, std::uint64_t to, std::uint32_t count) {
    SharedCompletion forged = entry(1);
    forged.carried = std::min(count, kCarriedBytes);
    forged.carried_to = to, forged.carried_key = to_key;
    ASSERT_EQ(push_completion(adapter_->segment(), queue_->index(), forged, {.few = bytes}, false,
                              kToken, liveness_),
              Push::kPushed);
    if (count > kCarriedBytes) {
      auto* ring = static_cast<SharedCompletion*>(adapter_->segment().arena(
          adapter_->segment().completion_queue(queue_->index()).ring, sizeof(SharedCompletion)));
      ring[pushed_ % 64].carried = count;
    }
    ++pushed_;
    EXPECT_EQ(completions().size(), 1u);
  };
  push(readable, address, 64);
  push(gone, address, 64);
  push(writable ^ 1, address, 64);
  push(0xffff'ffff, address, 64);
  push(0, address, 64);
  push(writable, address - 1, 64);
  push(writable, address + 4096 - 63, 64);
  push(writable, ~std::uint64_t{0} - 10, 64);
  push(writable, address, 0xffff'ffff);  // more than a completion can carry
  EXPECT_EQ(std::count(memory.begin(), memory.end(), 0x11), 3 * 4096);
  push(writable, address, kCarriedBytes);
  EXPECT_EQ(std::count(memory.begin(), memory.end(), 0x77), kCarriedBytes);
}

TEST_F(CompletionQueueTest, TakesNoPushOnceItIsGone) {
  const std::uint32_t index = queue_->index();
  adapter_->destroy_completion_queue(*queue_);
  queue_.reset();
  EXPECT_EQ(push_completion(adapter_->segment(), index, entry(1), {}, false, kToken, liveness_),
            Push::kOverrun);
}

TEST_F(CompletionQueueTest, IsRefusedBeyondTheDevicesLimits) {
  EXPECT_EQ(adapter_->create_completion_queue({.limit = 0}).error().code, EINVAL);
  EXPECT_EQ(adapter_->create_completion_queue({.limit = kMaxCompletions + 1}).error().code, EINVAL);
}

TEST_F(CompletionQueueTest, IsHadInPlaceOfTheOneThatSomebodyStillLooksAt) {
  std::vector<std::shared_ptr<CompletionQueue>> all;
  for (auto one = adapter_->create_completion_queue({.limit = 1}); one;
       one = adapter_->create_completion_queue({.limit = 1})) {
    all.push_back(*one);
  }
  EXPECT_EQ(all.size(), kCompletionQueues - 1);
  adapter_->destroy_completion_queue(*queue_);
  std::thread looks([held = std::move(queue_)]() mutable {
    usleep(20'000);
    held.reset();
  });
  EXPECT_TRUE(adapter_->create_completion_queue({.limit = 1}));
  looks.join();
}

}  // namespace
}  // namespace gdr::rnic
