#include "perf/statistics/samples.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <thread>

namespace gdr::perf {
namespace {

constexpr Ticks kTooLong = Ticks{1} << 32;

Samples samples_of(const std::vector<Ticks>& values) {
  Samples samples(values.size());
  for (Ticks value : values) EXPECT_TRUE(samples.add(value));
  return samples;
}

Latency summary_of(const std::vector<Ticks>& values) {
  const Samples samples = samples_of(values);
  return summarize({&samples, 1}, 1);
}

std::uint64_t counted(const Latency& latency) {
  std::uint64_t sum = 0;
  for (const Bin& bin : latency.histogram) sum += bin.count;
  return sum;
}

TEST(Samples, AreFullWhereTheirRoomEndsAndKeepWhatTheyHave) {
  Samples samples(3);
  EXPECT_TRUE(samples.add(1));
  EXPECT_TRUE(samples.add(kTooLong));
  EXPECT_FALSE(samples.full());
  EXPECT_TRUE(samples.add(3));
  EXPECT_TRUE(samples.full());
  EXPECT_FALSE(samples.add(4));
  EXPECT_FALSE(samples.add(kTooLong));
  EXPECT_EQ(samples.size(), 3u);
}

TEST(Samples, HaveAllTheirRoomAgainWhenCleared) {
  Samples samples(2);
  for (int round = 0; round < 3; ++round) {
    EXPECT_TRUE(samples.add(kTooLong));
    EXPECT_TRUE(samples.add(kTooLong - 1));
    EXPECT_FALSE(samples.add(1));
    samples.clear();
    EXPECT_EQ(samples.size(), 0u);
  }
}

TEST(Samples, OfSeveralThreadsAreAllInWhatIsMerged) {
  constexpr Ticks kEach = 50'000;
  std::vector<Samples> threads(4, Samples(kEach));
  std::vector<std::thread> running;
  for (Ticks number = 0; number < threads.size(); ++number) {
    running.emplace_back([&, number] {
      for (Ticks i = 0; i < kEach; ++i) threads[number].add(number * kEach + i);
    });
  }
  for (std::thread& thread : running) thread.join();
  for (std::size_t i = 1; i < threads.size(); ++i) threads[0].append(threads[i]);

  const Latency latency = summarize({threads.data(), 1}, 1);
  ASSERT_EQ(latency.histogram.size(), 4 * kEach);
  for (std::size_t i = 0; i < latency.histogram.size(); ++i) {
    ASSERT_EQ(latency.histogram[i].nanoseconds, static_cast<double>(i));
    ASSERT_EQ(latency.histogram[i].count, 1u);
  }
}

TEST(Samples, TakeWhatOthersHoldWithTheRoomLeftThere) {
  Samples samples(3), other(3);
  samples.add(kTooLong);
  samples.add(1);
  other.add(kTooLong + 1);
  other.add(2);
  samples.append(other);
  EXPECT_EQ(samples.size(), 4u);
  EXPECT_TRUE(samples.add(3));
  EXPECT_TRUE(samples.add(4));
  EXPECT_TRUE(samples.full());
  EXPECT_EQ(samples.long_ones().size(), 2u);
  EXPECT_EQ(std::vector<std::uint32_t>(samples.short_ones().begin(), samples.short_ones().end()),
            (std::vector<std::uint32_t>{1, 2, 3, 4}));
  samples.append(samples);
  EXPECT_EQ(samples.size(), 12u);
}

TEST(Histogram, KeepsEverySample) {
  std::mt19937_64 random(7);
  std::map<Ticks, std::uint64_t> expected;
  std::vector<Samples> repetitions;
  for (int repetition = 0; repetition < 10; ++repetition) {
    Samples& samples = repetitions.emplace_back(100'000);
    while (!samples.full()) {
      // Most are near each other, some far above, a few longer than 32 bits.
      const std::uint64_t kind = random() % 1000;
      const Ticks value = kind == 0  ? kTooLong - 2 + random() % 4
                          : kind < 5 ? random() % 1'000'000'000
                                     : 3'000 + random() % 4'000;
      ASSERT_TRUE(samples.add(value));
      ++expected[value];
    }
  }
  const Latency latency = summarize(repetitions, 0.5);
  EXPECT_EQ(latency.samples, 1'000'000u);
  EXPECT_EQ(counted(latency), 1'000'000u);
  ASSERT_EQ(latency.histogram.size(), expected.size());
  auto bin = latency.histogram.begin();
  for (const auto& [value, count] : expected) {
    ASSERT_EQ(bin->nanoseconds, static_cast<double>(value) / 2);
    ASSERT_EQ(bin->count, count);
    ++bin;
  }
}

TEST(Percentiles, AreTheSamplesOfNearestRank) {
  std::vector<Ticks> values;
  for (Ticks i = 10'000; i > 0; --i) values.push_back(i);
  const Latency latency = summary_of(values);
  EXPECT_EQ(latency.least, 1);
  EXPECT_EQ(latency.p50, 5'000);
  EXPECT_EQ(latency.p90, 9'000);
  EXPECT_EQ(latency.p99, 9'900);
  EXPECT_EQ(latency.p999, 9'990);
  EXPECT_EQ(latency.p9999, 9'999);
  EXPECT_EQ(latency.most, 10'000);
  EXPECT_DOUBLE_EQ(latency.mean, 5'000.5);
}

TEST(Percentiles, BeyondWhatTheSamplesCanTellAreNotKnown) {
  const Latency ten = summary_of({10, 1, 9, 2, 8, 3, 7, 4, 6, 5});
  EXPECT_EQ(ten.p50, 5);
  EXPECT_EQ(ten.p90, 9);
  EXPECT_EQ(ten.p99, 0) << "it takes a hundred samples";
  EXPECT_EQ(ten.p9999, 0);
  const Latency nine = summary_of({1, 2, 3, 4, 5, 6, 7, 8, 9});
  EXPECT_EQ(nine.p90, 0);
  const Latency eleven = summary_of({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  EXPECT_EQ(eleven.p50, 6);
  EXPECT_EQ(eleven.p90, 10);
  const Latency one = summary_of({42});
  EXPECT_EQ(one.least, 42);
  EXPECT_EQ(one.p50, 42);
  EXPECT_EQ(one.p9999, 0);
  EXPECT_EQ(one.most, 42);
}

TEST(Percentiles, CountSamplesTooLongFor32Bits) {
  const Latency latency = summary_of({kTooLong + 5, 1, kTooLong, 2});
  EXPECT_EQ(latency.p50, 2);
  EXPECT_EQ(latency.most, static_cast<double>(kTooLong + 5));
  EXPECT_DOUBLE_EQ(latency.mean, (2.0 * static_cast<double>(kTooLong) + 8) / 4);
}

TEST(Summary, HasTheMedianOfEachRepetition) {
  const std::vector<Samples> repetitions = {samples_of({1, 2, 3}), samples_of({20, 10, 30}),
                                            Samples(5), samples_of({7})};
  const Latency latency = summarize(repetitions, 2);
  EXPECT_EQ(latency.median.repetitions, (std::vector<double>{4, 40, 14}));
  EXPECT_EQ(latency.median.median, 14);
  EXPECT_EQ(latency.samples, 7u);
}

TEST(Summary, OfNoSamplesIsEmpty) {
  const Latency latency = summarize({}, 1);
  EXPECT_EQ(latency.samples, 0u);
  EXPECT_TRUE(latency.histogram.empty());
  EXPECT_TRUE(latency.median.repetitions.empty());
  EXPECT_EQ(latency.p9999, 0);
}

}  // namespace
}  // namespace gdr::perf
