// What a side takes of the host's memory, judged before it is taken.
#include "perf/shares.h"

#include <gtest/gtest.h>

#include "perf/crew.h"
#include "perf/memory_room.h"
#include "soft_devices.h"

namespace gdr::perf {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

StationPlan plan_of(std::uint32_t threads, std::uint32_t queue_pairs, std::uint64_t largest) {
  StationPlan plan;
  plan.load.check = true;
  plan.load.threads = threads;
  plan.load.queue_pairs = plan.queue_pairs = queue_pairs;
  plan.largest = largest;
  return plan;
}

std::uint64_t needed(const StationPlan& plan, bool is_client = false) {
  return host_memory_of(shares_of(plan, is_client));
}

TEST(Shares, OfAllThreadsTogetherAreJudgedForAtLeastWhatTheyTake) {
  for (const std::uint32_t threads : {1u, 3u, 8u}) {
    for (const bool check : {false, true}) {
      StationPlan plan = plan_of(threads, 11, 65536);
      plan.load.check = check;
      plan.load.operation = Operation::kSend;
      const auto crew = Crew::create(soft_ports(), plan, false);
      ASSERT_TRUE(crew) << crew.error().message;
      EXPECT_GE(needed(plan), (*crew)->registered_bytes()) << threads << check;
      EXPECT_LT(needed(plan), (*crew)->registered_bytes() * 2 + (64 << 20)) << threads << check;
    }
  }
}

// Each thread has places for up to 64 MiB of messages in either direction.
TEST(Shares, GrowWithTheThreads) {
  StationPlan plan = plan_of(64, 64, 65536);
  plan.load.depth = 8192;
  EXPECT_GE(needed(plan), 8 * kGiB);
  const Result<void> room = check_host_memory(needed(plan), 2 * kGiB);
  ASSERT_FALSE(room);
  EXPECT_EQ(room.error().code, ENOMEM);
  EXPECT_NE(room.error().message.find("of host memory are needed"), std::string::npos);
}

TEST(Shares, HoldWhatMessagesAreComparedWith) {
  StationPlan plan = plan_of(2, 2, kGiB);
  const std::uint64_t with = needed(plan), by_client = needed(plan, true);
  const std::uint64_t messages = 2 * plan_of(1, 1, kGiB).layout().bytes();
  // Each thread and the control thread have two buffers, and two more to describe damage.
  EXPECT_GE(with, messages + (2 + 1) * 4 * kGiB);
  EXPECT_GE(by_client, messages + 2 * 6 * kGiB);
  plan.load.check = false;
  EXPECT_LT(needed(plan), 5 * kGiB);
}

TEST(Shares, OfGpuMemoryTakeOfTheHostsWhatIsComparedThere) {
  StationPlan plan = plan_of(2, 2, kGiB);
  plan.place = {Place::Kind::kGpu, 0};
  EXPECT_GE(needed(plan), (2 + 1) * 4 * kGiB);
  EXPECT_LT(needed(plan), (2 + 1) * 4 * kGiB + (1 << 20));
  plan.place = {Place::Kind::kStaged, 0};
  EXPECT_GE(needed(plan), (2 + 1) * 4 * kGiB + 2 * plan_of(1, 1, kGiB).layout().bytes());
}

TEST(Shares, HoldTheRequestsOfManyQueuePairs) {
  StationPlan plan = plan_of(1, 4096, 64);
  plan.load.check = false;
  plan.load.depth = 8192;
  EXPECT_GE(needed(plan), std::uint64_t{4096} * 8192 * 64);
  plan.load.depth = 1;
  EXPECT_LT(needed(plan), 8 << 20);
  plan = plan_of(64, 4096, 64);
  plan.load.depth = 8192;
  plan.load.operation = Operation::kSend;
  EXPECT_GE(needed(plan), std::uint64_t{4096} * 8192 * 2 * 64);
}

TEST(Crew, IsRefusedWhatAllItsThreadsTogetherHaveNoRoomFor) {
  StationPlan plan = plan_of(64, 64, 65536);
  plan.load.depth = 8192;
  StationPlan compared = plan_of(1, 1, kGiB);
  compared.place = {Place::Kind::kGpu, 0};
  for (const StationPlan& each : {plan, compared}) {
    const auto crew = Crew::create(soft_ports(), each, false, {}, 2 * kGiB);
    ASSERT_FALSE(crew);
    EXPECT_EQ(crew.error().code, ENOMEM);
    EXPECT_NE(crew.error().message.find("of host memory are needed"), std::string::npos)
        << crew.error().message;
  }
}

}  // namespace
}  // namespace gdr::perf
