// UC over a link that loses packets: what arrives is whole and in order, the rest is dropped.
#include <gtest/gtest.h>

#include "program.h"

namespace gdr::sim {
namespace {

struct Result {
  std::size_t sent, received;
};

Result play(std::uint64_t seed, std::uint32_t loss) {
  Random random(seed);
  ScriptSettings script;
  constexpr std::uint32_t kMtus[] = {256, 512, 1024, 2048, 4096};
  script.path_mtu = kMtus[random.below(5)];
  script.reads = false;
  script.least_length = 16;  // enough to know a message by its first bytes
  script.works = 100;
  Program::Settings settings;
  settings.may_lose = true;
  settings.queue_depth = 1 + random.below(32);
  if (loss > 0 && random.below(2) == 0) {
    settings.receives_at_once = 1 + random.below(8);
    settings.between_receives = 1'000 + random.below(100'000);
  }
  Program left(settings, make_script(script, &random));
  Program right(settings, {});
  left.meet(&right);
  right.meet(&left);
  World world;
  LinkSettings link;
  link.bits_per_second = 10'000'000'000;
  link.delay = 10 * kMicrosecond;
  link.loss = loss;
  world.add_host(&left, world.add_link(link, random.next()), 1, 65536);
  world.add_host(&right, world.add_link(link, random.next()), 0, 65536);
  for (Program* program : {&left, &right}) {
    engine::ConnectionSettings connection;
    connection.transport = wire::Transport::kUnreliableConnection;
    connection.path_mtu = script.path_mtu;
    program->connection() = std::make_unique<engine::Connection>(connection, *program);
    program->connection()->start_sending({});
  }
  world.run(2 * kSecond);
  EXPECT_EQ(left.complaint(), "");
  EXPECT_EQ(right.complaint(), "");
  EXPECT_TRUE(left.done()) << left.progress();
  if (loss == 0) {
    EXPECT_TRUE(right.served()) << right.progress();
  }
  return {left.messages_sent(), right.messages_received()};
}

TEST(UnreliableSimulation, DeliversEverythingOverALinkThatLosesNothing) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const Result result = play(seed, 0);
    ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed;
    EXPECT_EQ(result.received, result.sent);
  }
}

TEST(UnreliableSimulation, WhatArrivesIsWholeAndInOrder) {
  Result all{};
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const Result result = play(seed, 20'000);
    ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed;
    all.sent += result.sent;
    all.received += result.received;
  }
  EXPECT_GT(all.received, all.sent / 2);
  EXPECT_LT(all.received, all.sent);
}

}  // namespace
}  // namespace gdr::sim
