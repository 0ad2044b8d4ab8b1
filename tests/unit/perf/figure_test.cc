#include "perf/statistics/figure.h"

#include <gtest/gtest.h>

#include <limits>

namespace gdr::perf {
namespace {

TEST(Figure, HasMedianLeastAndMost) {
  const Figure odd = make_figure({5, 1, 3});
  EXPECT_DOUBLE_EQ(odd.median, 3);
  EXPECT_DOUBLE_EQ(odd.least, 1);
  EXPECT_DOUBLE_EQ(odd.most, 5);
  EXPECT_EQ(odd.repetitions, (std::vector<double>{5, 1, 3}));
  EXPECT_DOUBLE_EQ(make_figure({4, 1, 3, 2}).median, 2.5);
  EXPECT_DOUBLE_EQ(make_figure({1e308, 1.5e308}).median, 1.25e308);
}

TEST(Figure, SpreadIsHalfTheMiddle80PercentAsAShareOfTheMedian) {
  // The 10 % and 90 % marks of eleven values are the second and the tenth.
  const Figure figure = make_figure({100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110});
  EXPECT_DOUBLE_EQ(figure.spread, 4.0 / 105);
  EXPECT_DOUBLE_EQ(make_figure({7}).spread, 0);
  EXPECT_NEAR(make_figure({90, 110}).spread, 0.08, 1e-12);
}

TEST(Figure, SpreadOfElevenIgnoresOneStray) {
  const Figure calm = make_figure({100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110});
  const Figure stray = make_figure({100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 9000});
  EXPECT_DOUBLE_EQ(stray.spread, calm.spread);
}

TEST(Figure, LeavesOutWhatIsNotFinite) {
  const double infinite = std::numeric_limits<double>::infinity();
  const Figure figure = make_figure({infinite, 2, std::numeric_limits<double>::quiet_NaN(), 4});
  EXPECT_EQ(figure.repetitions, (std::vector<double>{2, 4}));
  EXPECT_DOUBLE_EQ(figure.median, 3);
}

TEST(Figure, OfNothingOrOfZeroesIsZero) {
  EXPECT_EQ(make_figure({}).median, 0);
  EXPECT_EQ(make_figure({}).spread, 0);
  EXPECT_EQ(make_figure({0, 0, 0}).spread, 0);
}

TEST(NoiseRemark, SaysTheShareWhereRepetitionsDifferTooMuch) {
  Figure figure;
  figure.spread = 0.123;
  EXPECT_EQ(noise_remark(figure), "noisy: ±12 % between repetitions");
  figure.spread = 0.0512;
  EXPECT_EQ(noise_remark(figure), "noisy: ±5.1 % between repetitions");
}

TEST(NoiseRemark, IsNotMadeUpToTheThreshold) {
  Figure figure;
  figure.spread = kNoisySpread;
  EXPECT_FALSE(noise_remark(figure).has_value());
}

TEST(Quantile, LiesBetweenTheTwoNearestValues) {
  const std::vector<double> values = {10, 20, 40};
  EXPECT_DOUBLE_EQ(quantile(values, 0), 10);
  EXPECT_DOUBLE_EQ(quantile(values, 0.25), 15);
  EXPECT_DOUBLE_EQ(quantile(values, 0.75), 30);
  EXPECT_DOUBLE_EQ(quantile(values, 1), 40);
}

}  // namespace
}  // namespace gdr::perf
