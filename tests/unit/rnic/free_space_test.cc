#include "rnic/free_space.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace gdr::rnic {
namespace {

TEST(FreeSpace, GivesNothingThatIsTakenAndNothingBeyondItsEnd) {
  FreeSpace space(4096, 4096 + 3 * 64);
  EXPECT_EQ(space.take(64), 4096u);
  EXPECT_EQ(space.take(128), 4096u + 64);
  EXPECT_EQ(space.take(1), std::nullopt);
  EXPECT_EQ(space.length_at(4096 + 64), 128u);
}

TEST(FreeSpace, WhatIsGivenBackSideBySideIsOneGapAgain) {
  FreeSpace space(0, 300);
  const auto first = space.take(100), second = space.take(100), third = space.take(100);
  ASSERT_TRUE(first && second && third);
  EXPECT_EQ(space.give_back(*first), 100u);
  EXPECT_EQ(space.give_back(*third), 100u);
  EXPECT_EQ(space.take(101), std::nullopt);
  EXPECT_EQ(space.give_back(*second), 100u);
  EXPECT_EQ(space.take(300), 0u);
}

TEST(FreeSpace, TakesTheShortestGapThatIsLongEnough) {
  FreeSpace space(0, 1000);
  const auto longer = space.take(200), between = space.take(10), shorter = space.take(100);
  ASSERT_TRUE(longer && between && shorter && space.take(10));
  space.give_back(*longer);
  space.give_back(*shorter);
  EXPECT_EQ(space.take(90), *shorter);
  EXPECT_EQ(space.take(150), *longer);
}

TEST(FreeSpace, NothingIsGivenBackThatWasNotTaken) {
  FreeSpace space(0, 100);
  EXPECT_EQ(space.give_back(0), 0u);
  EXPECT_EQ(space.take(0), std::nullopt);
  const auto taken = space.take(50);
  ASSERT_TRUE(taken);
  EXPECT_EQ(space.give_back(*taken + 1), 0u);
  EXPECT_EQ(space.give_back(*taken), 50u);
  EXPECT_EQ(space.give_back(*taken), 0u);
}

TEST(FreeSpace, AnySeriesLeavesAllOfItWhenEverythingIsGivenBack) {
  std::mt19937 random(7);
  FreeSpace space(64, 1 << 20);
  std::vector<std::uint64_t> taken;
  std::vector<bool> used(1 << 20);
  for (int i = 0; i < 20'000; ++i) {
    if (random() % 2 == 0 || taken.empty()) {
      const std::uint64_t length = 1 + random() % 700;
      const auto at = space.take(length);
      if (!at) continue;
      for (std::uint64_t k = 0; k < length; ++k) {
        ASSERT_FALSE(used[*at + k]) << "taken twice: " << *at + k;
        used[*at + k] = true;
      }
      taken.push_back(*at);
    } else {
      std::swap(taken[random() % taken.size()], taken.back());
      const std::uint64_t length = space.give_back(taken.back());
      ASSERT_NE(length, 0u);
      for (std::uint64_t k = 0; k < length; ++k) used[taken.back() + k] = false;
      taken.pop_back();
    }
  }
  for (const std::uint64_t at : taken) space.give_back(at);
  EXPECT_EQ(space.take((1 << 20) - 64), 64u);
}

}  // namespace
}  // namespace gdr::rnic
