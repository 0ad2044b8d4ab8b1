#include "engine/window.h"

#include <gtest/gtest.h>

namespace gdr::engine {
namespace {

constexpr std::uint32_t kPacket = 1000;
constexpr std::uint64_t kMost = 1'000'000;

// A window of data goes out, is acknowledged, and held the requester back.
void fill(Window* window, int times = 1) {
  for (int i = 0; i < times; ++i) {
    std::uint64_t left = window->size();
    while (left > 0) {
      const std::uint64_t bytes = std::min<std::uint64_t>(left, kPacket);
      window->held_back();
      window->acknowledged(bytes);
      left -= bytes;
    }
  }
}

TEST(WindowTest, BeginsWithHalfOfWhatItMayBecome) {
  EXPECT_EQ(Window(kMost, kPacket).size(), kMost / 2);
}

TEST(WindowTest, IsNeverBelowAFewPackets) {
  Window small(1, kPacket);
  EXPECT_EQ(small.size(), 8u * kPacket);
  Window window(kMost, kPacket);
  for (std::uint64_t i = 0; i < 100; ++i) window.lost(i, i);
  EXPECT_EQ(window.size(), 8u * kPacket);
  window.timed_out(1000);
  EXPECT_EQ(window.size(), 8u * kPacket);
}

TEST(WindowTest, NeverGrowsBeyondItsCap) {
  Window window(kMost, kPacket);
  fill(&window, 1000);
  EXPECT_EQ(window.size(), kMost);
}

TEST(WindowTest, GrowsOnlyWhenItHeldSomethingBack) {
  Window window(kMost, kPacket);
  for (int i = 0; i < 1000; ++i) window.acknowledged(kPacket);
  EXPECT_EQ(window.size(), kMost / 2);
}

TEST(WindowTest, ShrinksOnceForEachWindowOfData) {
  Window window(kMost, kPacket);
  window.lost(10, 100);
  const std::uint64_t once = window.size();
  EXPECT_LT(once, kMost / 2);
  EXPECT_GE(once, kMost / 4);
  window.lost(50, 120);
  window.congested(99, 130);
  EXPECT_EQ(window.size(), once);
  window.lost(100, 200);
  EXPECT_LT(window.size(), once);
}

TEST(WindowTest, IsBackAfterAFewWindowsAndThenGoesOnSlowly) {
  Window window(kMost, kPacket);
  window.lost(10, 100);
  const std::uint64_t low = window.size();
  fill(&window, 6);
  EXPECT_GT(window.size(), low + (kMost / 2 - low) * 8 / 10);
  fill(&window, 20);
  const std::uint64_t there = window.size();
  fill(&window, 1);
  EXPECT_LE(window.size(), there + 2 * kPacket);
}

TEST(WindowTest, ShrinksLessWhenASwitchOnlyWarns) {
  Window lost(kMost, kPacket), warned(kMost, kPacket);
  lost.lost(10, 100);
  warned.congested(10, 100);
  EXPECT_GT(warned.size(), lost.size());
  EXPECT_LT(warned.size(), kMost / 2);
}

TEST(WindowTest, StartsFromTheBottomAfterATimeout) {
  Window window(kMost, kPacket);
  window.timed_out(100);
  EXPECT_EQ(window.size(), 8u * kPacket);
  fill(&window, 2);  // slow start doubles it each time
  EXPECT_EQ(window.size(), 32u * kPacket);
}

}  // namespace
}  // namespace gdr::engine
