// Two flows through one bottleneck whose queue overflows.
#include <gtest/gtest.h>

#include <array>

#include "flow.h"

namespace gdr::sim {
namespace {

struct Shares {
  std::array<std::uint64_t, 2> bytes;
  double total() const { return static_cast<double>(bytes[0] + bytes[1]); }
  // Jain's index: 1 is fair, 0.5 is all for one of two.
  double fairness() const {
    const double a = static_cast<double>(bytes[0]), b = static_cast<double>(bytes[1]);
    return (a + b) * (a + b) / (2 * (a * a + b * b));
  }
};

Shares share(const LinkSettings& shared) {
  Flow senders[2] = {Flow(engine::WorkKind::kWrite, 1 << 20, 8),
                     Flow(engine::WorkKind::kWrite, 1 << 20, 8)};
  Flow takers[2] = {Flow(engine::WorkKind::kWrite, 0, 0), Flow(engine::WorkKind::kWrite, 0, 0)};
  engine::SendSettings sending;
  sending.timeout = 67 * kMillisecond;
  World world;
  const std::size_t there = world.add_link(shared, 1);
  LinkSettings plain;
  plain.delay = shared.delay;
  const std::size_t back = world.add_link(plain, 2);
  for (std::size_t i = 0; i < 2; ++i) {
    connect(&senders[i], &takers[i], sending);
    world.add_host(&senders[i], there, 2 * i + 1);
    world.add_host(&takers[i], back, 2 * i);
  }
  constexpr Nanoseconds kTime = kSecond / 2;
  world.run(kSecond + kTime);
  return {{takers[0].taken(), takers[1].taken()}};
}

LinkSettings bottleneck() {
  LinkSettings link;
  link.bits_per_second = 10'000'000'000;
  link.delay = 50 * kMicrosecond;
  link.queue_bytes = 256 << 10;
  return link;
}

constexpr double kHalfASecond = 10e9 / 8 / 2;

TEST(Fairness, TwoFlowsShareAQueueThatOverflows) {
  const Shares shares = share(bottleneck());
  EXPECT_GE(shares.fairness(), 0.9);
  EXPECT_GE(shares.total(), 0.6 * kHalfASecond);
}

TEST(Fairness, TwoFlowsShareALinkThatLosesPacketsBesides) {
  LinkSettings link = bottleneck();
  link.loss = 1000;
  const Shares shares = share(link);
  EXPECT_GE(shares.fairness(), 0.9);
  EXPECT_GE(shares.total(), 0.6 * kHalfASecond);
}

TEST(Fairness, TwoFlowsShareALinkThatMarksPackets) {
  LinkSettings link = bottleneck();
  link.mark_bytes = 64 << 10;
  link.queue_bytes = 4 << 20;
  const Shares shares = share(link);
  EXPECT_GE(shares.fairness(), 0.9);
  // Expect no loss at all, and so next to nothing wasted.
  EXPECT_GE(shares.total(), 0.8 * kHalfASecond);
}

}  // namespace
}  // namespace gdr::sim
