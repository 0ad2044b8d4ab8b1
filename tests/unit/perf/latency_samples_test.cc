#include "perf/cases/latency_samples.h"

#include <gtest/gtest.h>

namespace gdr::perf {
namespace {

Timing timing_of(std::uint32_t slices) {
  Timing timing;
  timing.slices = slices;
  return timing;
}

TEST(LatencySamples, KeepsNothingOfTheWarmUpAndEveryRepetitionByItself) {
  Outcome outcome;
  LatencySamples samples(outcome, timing_of(2));
  EXPECT_TRUE(samples.note(0, 7));
  EXPECT_TRUE(outcome.samples.empty());
  EXPECT_FALSE(samples.note(1, 8)) << "room was made";
  EXPECT_TRUE(samples.note(1, 9));
  EXPECT_FALSE(samples.note(2, 10));
  ASSERT_EQ(outcome.samples.size(), 2u);
  EXPECT_EQ(outcome.samples[0].size(), 2u);
  EXPECT_EQ(outcome.samples[1].size(), 1u);
}

TEST(LatencySamples, SaysWhenARepetitionHasNoRoomForMore) {
  Outcome outcome;
  LatencySamples samples(outcome, timing_of(10'000));  // a little room for each
  std::size_t kept = 0;
  for (; !samples.full() && kept < 1'000'000; ++kept) samples.note(1, 5);
  EXPECT_LT(kept, 10'000u);
  EXPECT_EQ(outcome.samples[0].size(), kept);
  samples.note(2, 5);
  EXPECT_FALSE(samples.full());
}

TEST(LatencySamples, HasNoRoomForMoreWhereAllThatComeAtOnceWouldNotFit) {
  constexpr std::size_t kAtOnce = 7;
  Outcome outcome;
  LatencySamples samples(outcome, timing_of(10'000), kAtOnce);
  std::size_t noted = 0;
  for (; !samples.full() && noted < 1'000'000; noted += kAtOnce) {
    for (std::size_t i = 0; i < kAtOnce; ++i) samples.note(1, 5);
  }
  EXPECT_LT(noted, 10'000u);
  EXPECT_EQ(outcome.samples[0].size(), noted);
}

}  // namespace
}  // namespace gdr::perf
