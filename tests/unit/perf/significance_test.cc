#include "perf/statistics/significance.h"

#include <gtest/gtest.h>

#include <bit>
#include <ctime>
#include <numeric>
#include <random>
#include <vector>

namespace gdr::perf {
namespace {

using Values = std::vector<double>;

// Two sets without ties, of which the first one's values are the larger in `u` pairs.
std::pair<Values, Values> sets_with(std::size_t a, std::size_t b, std::size_t u) {
  std::pair<Values, Values> sets;
  for (std::size_t i = 0; i < b; ++i) sets.second.push_back(static_cast<double>(i + 1));
  for (std::size_t i = 0; i < a; ++i) {
    const std::size_t beaten = std::min(u, b);
    u -= beaten;
    sets.first.push_back(static_cast<double>(beaten) + 0.5 - static_cast<double>(i) / 1000);
  }
  return sets;
}

double p_of(std::size_t a, std::size_t b, std::size_t u) {
  const auto sets = sets_with(a, b, u);
  return mann_whitney_p(sets.first, sets.second);
}

TEST(MannWhitney, HasTheCriticalValuesOfTheTables) {
  // The largest U of which p is at most 0.05, two-sided, for two sets of equal length.
  const std::pair<std::size_t, std::size_t> kCritical[] = {
      {4, 0}, {5, 2}, {6, 5}, {7, 8}, {8, 13}, {9, 17}, {10, 23}, {12, 37}, {15, 64}, {20, 127}};
  for (const auto& [count, u] : kCritical) {
    EXPECT_LE(p_of(count, count, u), 0.05) << count;
    EXPECT_GT(p_of(count, count, u + 1), 0.05) << count;
  }
}

TEST(MannWhitney, HasThePublishedExactValues) {
  // wilcox.test's first example of two samples in R's manual: W = 35, one-sided p = 0.1272.
  const Values x = {0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46};
  const Values y = {1.15, 0.88, 0.90, 0.74, 1.21};
  EXPECT_NEAR(mann_whitney_p(x, y), 2 * 0.1272, 0.0001);
  // scipy.stats.mannwhitneyu's example: U = 17, p = 0.1111.
  EXPECT_NEAR(mann_whitney_p(Values{19, 22, 16, 29, 24}, Values{20, 11, 17, 12}), 14.0 / 126,
              1e-12);
  EXPECT_NEAR(p_of(5, 5, 0), 2.0 / 252, 1e-12);
}

TEST(MannWhitney, CountsAsTryingEveryOrderDoes) {
  constexpr unsigned kA = 4, kB = 6;
  std::vector<unsigned> ways(kA * kB + 1);
  for (unsigned places = 0; places < 1u << (kA + kB); ++places) {
    if (std::popcount(places) != kA) continue;
    unsigned u = 0;
    for (unsigned at = 0; at < kA + kB; ++at) {
      if (places >> at & 1) u += at - std::popcount(places & ((1u << at) - 1));
    }
    ++ways[u];
  }
  const double total = std::accumulate(ways.begin(), ways.end(), 0.0);
  for (unsigned u = 0; u <= kA * kB; ++u) {
    const unsigned least = std::min(u, kA * kB - u);
    const double tail = std::accumulate(ways.begin(), ways.begin() + least + 1, 0.0);
    EXPECT_NEAR(p_of(kA, kB, u), std::min(1.0, 2 * tail / total), 1e-12) << u;
  }
}

TEST(MannWhitney, CorrectsForTiesByTheNormalDistribution) {
  // wilcox.test(Ozone ~ Month) of airquality, May and August, in R's manual: p = 0.0001208.
  const Values may = {41, 36, 12, 18, 28, 23, 19, 8, 7,  16, 11, 14,  18,
                      14, 34, 6,  30, 11, 1,  11, 4, 32, 23, 45, 115, 37};
  const Values august = {39, 9,  16, 78, 35, 66, 122, 89,  110, 44, 28,  65, 22,
                         59, 23, 31, 44, 21, 9,  45,  168, 73,  76, 118, 84, 85};
  EXPECT_NEAR(mann_whitney_p(may, august), 0.0001208, 5e-8);
}

TEST(MannWhitney, IsContinuousWhereCountingGivesWayToTheNormalDistribution) {
  // 32 and 33 values with the same share of pairs.
  EXPECT_NEAR(p_of(32, 32, 360), p_of(33, 33, 383), 0.005);
  EXPECT_LT(p_of(32, 32, 360), 0.05);
  EXPECT_NEAR(p_of(33, 33, 544), 1, 0.01);
  EXPECT_NEAR(p_of(32, 32, 512), 1, 0.01);
}

TEST(MannWhitney, SeesNoDifferenceWhereThereIsNone) {
  EXPECT_EQ(mann_whitney_p(Values{3, 3, 3, 3}, Values{3, 3, 3, 3}), 1);
  EXPECT_EQ(mann_whitney_p(Values{3}, Values{3}), 1);
  EXPECT_EQ(mann_whitney_p(Values{}, Values{3, 4}), 1);
}

TEST(MannWhitney, IsTheSameBothWays) {
  const Values a = {1, 5, 9, 13, 2}, b = {6, 7, 20, 21};
  EXPECT_EQ(mann_whitney_p(a, b), mann_whitney_p(b, a));
}

TEST(LeastP, SaysHowManyRepetitionsShowADifference) {
  EXPECT_NEAR(least_p(3, 3), 0.1, 1e-12);
  EXPECT_NEAR(least_p(4, 4), 2.0 / 70, 1e-12);
  EXPECT_EQ(least_p(0, 9), 1);
  EXPECT_LT(least_p(40, 40), 1e-9);
}

TEST(Difference, IsThatOfTheMediansAsAShareOfTheBase) {
  const Difference found = difference(Values{100, 101, 99, 100, 100.5, 99.5},
                                      Values{110, 111, 109, 110, 110.5, 109.5}, 1);
  EXPECT_NEAR(found.share, 0.1, 1e-12);
  EXPECT_GT(found.interval.low, 0.08);
  EXPECT_LT(found.interval.low, 0.1);
  EXPECT_GT(found.interval.high, 0.1);
  EXPECT_LT(found.interval.high, 0.12);
  EXPECT_TRUE(found.is_shown());
}

TEST(Difference, IsTheSameForTheSameSeed) {
  std::mt19937_64 random(3);
  Values base, other;
  for (int i = 0; i < 15; ++i) {
    base.push_back(1000 + static_cast<double>(random() % 1000));
    other.push_back(1000 + static_cast<double>(random() % 1000));
  }
  const Difference first = difference(base, other, 11), again = difference(base, other, 11);
  EXPECT_EQ(first.interval.low, again.interval.low);
  EXPECT_EQ(first.interval.high, again.interval.high);
  bool differs = false;
  for (std::uint64_t seed = 12; seed < 20; ++seed) {
    const Difference seeded = difference(base, other, seed);
    differs |= seeded.interval.low != first.interval.low;
    EXPECT_NEAR(seeded.interval.low, first.interval.low, 0.05);
  }
  EXPECT_TRUE(differs);
}

TEST(Difference, IsSeldomShownBetweenSetsFromOneSourceAndTheIntervalHoldsTheTruth) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> noise(100, 2);
  constexpr int kTrials = 400;
  int shown = 0, held = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    Values base, other;
    for (int i = 0; i < 11; ++i) {
      base.push_back(noise(random));
      other.push_back(noise(random));
    }
    const Difference found = difference(base, other, static_cast<std::uint64_t>(trial));
    shown += found.is_shown();
    held += found.interval.low <= 0 && found.interval.high >= 0;
  }
  EXPECT_LE(shown, kTrials * 7 / 100);
  EXPECT_GE(held, kTrials * 92 / 100);
  EXPECT_LE(held, kTrials * 99 / 100);
}

TEST(Difference, OfManyValuesIsFoundInBoundedTime) {
  Values base(100'000), other(100'000);
  std::mt19937_64 random(9);
  for (double& value : base) value = 1000 + static_cast<double>(random() % 100);
  for (double& value : other) value = 1100 + static_cast<double>(random() % 100);
  const std::clock_t start = std::clock();
  EXPECT_TRUE(difference(base, other, 1).is_shown());
  // Half a second; as many resamples as of few values would take 40 times that.
  EXPECT_LT(std::clock() - start, 8 * CLOCKS_PER_SEC);
}

}  // namespace
}  // namespace gdr::perf
