#include "rnic/due.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace gdr::rnic {
namespace {

using Indices = std::vector<std::uint32_t>;

Indices taken(SharedDue& due) {
  Indices indices;
  take_due(due, [&](std::uint32_t index) { indices.push_back(index); });
  return indices;
}

TEST(Due, EachMarkIsTakenOnceHoweverOftenItWasMade) {
  const auto due = std::make_unique<SharedDue>();
  EXPECT_EQ(taken(*due), Indices{});
  for (const std::uint32_t index : {kQueuePairs - 1, 0u, 63u, 64u, 4096u, 64u}) {
    mark_due(*due, index);
  }
  EXPECT_EQ(taken(*due), (Indices{0, 63, 64, 4096, kQueuePairs - 1}));
  EXPECT_EQ(taken(*due), Indices{});
}

TEST(Due, AMarkMadeWhileAnotherIsTakenIsTakenNextTime) {
  const auto due = std::make_unique<SharedDue>();
  mark_due(*due, 7);
  take_due(*due, [&](std::uint32_t index) { mark_due(*due, index); });
  EXPECT_EQ(taken(*due), Indices{7});
}

TEST(Due, AnIndexBeyondTheTableStaysInside) {
  const auto due = std::make_unique<SharedDue>();
  mark_due(*due, kQueuePairs + 3);
  EXPECT_EQ(taken(*due), Indices{3});
}

TEST(Due, NoMarkIsLostBetweenThreads) {
  const auto due = std::make_unique<SharedDue>();
  constexpr std::uint32_t kRounds = 20'000;
  std::atomic<std::uint32_t> stored{0};
  std::uint32_t seen = 0;
  std::thread marker([&] {
    for (std::uint32_t i = 1; i <= kRounds; ++i) {
      stored.store(i);
      mark_due(*due, 100);
    }
  });
  // Whatever was stored before the last mark is seen with it.
  const auto look = [&] { take_due(*due, [&](std::uint32_t) { seen = stored.load(); }); };
  while (stored.load() != kRounds) look();
  marker.join();
  look();
  EXPECT_EQ(seen, kRounds);
}

}  // namespace
}  // namespace gdr::rnic
