#include "perf/load.h"

#include <gtest/gtest.h>

#include "perf/rules.h"

namespace gdr::perf {
namespace {

constexpr std::uint64_t kMebibyte = 1 << 20;

TEST(Load, SharesItsQueuePairsOutAmongThreadsAndThoseAmongPorts) {
  Load load;
  load.queue_pairs = 11, load.threads = 3, load.ports = 2;
  EXPECT_EQ(queue_pairs_of(load, 0), 4u);
  EXPECT_EQ(queue_pairs_of(load, 2), 3u);
  EXPECT_EQ(queue_pairs_on(load, 0), 4u + 3u) << "threads 0 and 2";
  EXPECT_EQ(queue_pairs_on(load, 1), 4u);
}

TEST(Load, HasAsManyRequestsUnderWayAsWereAskedForWhereMessagesAreSmall) {
  Load load;
  load.depth = 128;
  EXPECT_EQ(requests_under_way(load, 4096), 128u);
}

TEST(Load, HasNoMoreBytesUnderWayThanASlowNetworkSendsInSeconds) {
  Load load;
  EXPECT_EQ(requests_under_way(load, 8 * kMebibyte), 8u);
  load.queue_pairs = 4;
  EXPECT_EQ(requests_under_way(load, 8 * kMebibyte), 2u);
}

TEST(Load, KeepsTwoRequestsUnderWayHoweverLargeTheMessage) {
  Load load;
  load.queue_pairs = 64;
  EXPECT_EQ(requests_under_way(load, 1024 * kMebibyte), 2u);
  load.depth = 1;
  EXPECT_EQ(requests_under_way(load, 1024 * kMebibyte), 1u);
}

TEST(Load, HasACompletionAmongWhatIsUnderWay) {
  for (const std::uint32_t batch : {1u, 3u, 63u, 64u, 100u}) {
    for (const std::uint32_t asked : {0u, 1u, 7u, 100u}) {
      for (const std::uint64_t size : {std::uint64_t{1}, std::uint64_t{8191}, 8 * kMebibyte}) {
        Load load;
        load.depth = 256;
        load.batch = batch;
        load.signal_every = asked;
        load.queue_pairs = 4096;
        const std::uint32_t every = requests_for_completion(load, size);
        const std::uint32_t most = requests_under_way(load, size);
        const bool in_step = batch % every == 0;  // then nothing is left without one
        EXPECT_LE(in_step ? batch : every - 1 + batch, most)
            << "batch " << batch << ", signal every " << asked << ", size " << size;
        EXPECT_LE(most, load.depth);
      }
    }
  }
}

TEST(Load, HasACompletionForEachLargeMessageAndForManySmallOnes) {
  Load load;
  EXPECT_EQ(requests_for_completion(load, 8192), 1u);
  EXPECT_EQ(requests_for_completion(load, 64), 64u);
  load.signal_every = 5;
  EXPECT_EQ(requests_for_completion(load, 8192), 5u);
}

TEST(Load, IsRefusedCompletionsThatBatchesWouldNeverReachWithinTheDepth) {
  Load load;
  load.depth = 128;
  load.batch = 100;
  load.signal_every = 128;
  const Result<void> right = check_load(load, 64);
  ASSERT_FALSE(right);
  EXPECT_EQ(right.error().message,
            "--signal-every 128 does not work with --batch 100: the queue pair would fill up "
            "before a completion; use a larger --depth");
}

TEST(Load, MayHaveCompletionsInStepWithBatches) {
  Load load;
  load.depth = load.batch = 64;
  for (const std::uint32_t every : {0u, 1u, 32u, 64u}) {
    load.signal_every = every;
    EXPECT_TRUE(check_load(load, 64)) << every;
  }
}

TEST(Load, LeavesProcessorsToCopiesOfGpuMemoryWhereItsThreadsWouldTakeAll) {
  Load load;
  EXPECT_FALSE(must_give_way(load, 1)) << "host memory: polls as perftest does";
  load.far = {Place::Kind::kGpu, 0};
  EXPECT_TRUE(must_give_way(load, 2));
  EXPECT_FALSE(must_give_way(load, 3));
  load.threads = 4;
  EXPECT_TRUE(must_give_way(load, 8)) << "four on each side";
  EXPECT_FALSE(must_give_way(load, 9));
}

TEST(Load, AQueueForLatencyIsAsLongAsItIsEverFull) {
  Load load;
  load.measure = Measure::kLatency;
  load.signal_every = 1;
  EXPECT_EQ(requests_queued(load), 2u);  // one under way, one whose completion is still to come
  load.signal_every = 0;
  EXPECT_EQ(requests_queued(load), 65u);
  EXPECT_EQ(requests_for_completion(load, 8), 64u);
  load.batch = load.depth;  // which a latency does not use
  EXPECT_EQ(requests_for_completion(load, 8), 64u);
  load.batch = load.depth = 1;
  EXPECT_EQ(requests_queued(load), 1u);
  EXPECT_EQ(requests_for_completion(load, 8), 1u);
  load.depth = 128;
  load.check = true;
  EXPECT_EQ(requests_queued(load), 128u);
  load.check = false;
  load.measure = Measure::kBandwidth;
  EXPECT_EQ(requests_queued(load), 128u);
}

}  // namespace
}  // namespace gdr::perf
