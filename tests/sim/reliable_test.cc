// Two programs over a link on which everything goes wrong. GDR_SIM_SEEDS=100000 tries more seeds
// than every build does; GDR_SIM_FIRST=n begins at another.
#include <gtest/gtest.h>

#include <cstdlib>

#include "program.h"

namespace gdr::sim {
namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

constexpr std::uint32_t kMtus[] = {256, 512, 1024, 2048, 4096};

LinkSettings random_link(Random* random) {
  LinkSettings link;
  constexpr std::uint32_t kLosses[] = {0, 1000, 10'000, 50'000, 100'000};
  link.bits_per_second = random->below(4) == 0 ? 0 : (1 + random->below(100)) * 1'000'000'000ull;
  link.delay = 1'000 + random->below(random->below(4) == 0 ? 2'000'000 : 50'000);
  link.queue_bytes = random->below(3) == 0 ? 20'000 + random->below(200'000) : ~std::uint64_t{0};
  link.mark_bytes = random->below(3) == 0 ? 10'000 + random->below(100'000) : ~std::uint64_t{0};
  link.loss = kLosses[random->below(5)];
  link.duplicate = random->below(2) == 0 ? 0 : random->below(30'000);
  link.reorder = random->below(2) == 0 ? 0 : random->below(30'000);
  link.corrupt = random->below(2) == 0 ? 0 : random->below(20'000);
  link.reorder_delay = 1 + random->below(500'000);
  return link;
}

struct Story {
  engine::ConnectionSettings connection;
  engine::SendSettings sending;
  Program::Settings programs[2];
  ScriptSettings script;
  std::uint32_t psns[2];
};

Story random_story(Random* random) {
  Story story;
  const bool xrc = random->below(4) == 0;
  story.script.path_mtu = kMtus[random->below(5)];
  story.script.xrc_srq = xrc ? 77 : 0;
  story.connection.transport =
      xrc ? wire::Transport::kExtendedReliable : wire::Transport::kReliableConnection;
  story.connection.path_mtu = story.script.path_mtu;
  story.connection.responder_resources = 1 + random->below(16);
  story.connection.minimum_rnr_timer = static_cast<std::uint8_t>(1 + random->below(12));
  story.sending.initiator_depth = 1 + random->below(story.connection.responder_resources);
  story.sending.timeout = random->below(4) == 0 ? 0 : 4096ull << (10 + random->below(6));
  story.sending.most_in_flight = 4096u << random->below(9);
  for (int i = 0; i < 2; ++i) {
    story.psns[i] =
        random->below(2) == 0 ? random->below(1 << 24) : wire::psn_add(0, -random->below(200));
    Program::Settings& program = story.programs[i];
    program.queue_depth = 1 + random->below(32);
    program.credits = random->below(2) == 0;
    program.xrc_srq = story.script.xrc_srq;
    if (random->below(2) == 0) {
      program.receives_at_once = 1 + random->below(8);
      program.between_receives = 1'000 + random->below(2'000'000);
    }
  }
  return story;
}

void play(std::uint64_t seed) {
  Random random(seed);
  const Story story = random_story(&random);
  Program left(story.programs[0], make_script(story.script, &random));
  Program right(story.programs[1], make_script(story.script, &random));
  left.meet(&right);
  right.meet(&left);
  World world;
  const std::size_t there = world.add_link(random_link(&random), random.next());
  const std::size_t back = world.add_link(random_link(&random), random.next());
  world.add_host(&left, there, 1, 65536);
  world.add_host(&right, back, 0, 65536);
  Program* programs[2] = {&left, &right};
  for (int i = 0; i < 2; ++i) {
    engine::ConnectionSettings connection = story.connection;
    connection.receive_psn = story.psns[1 - i];
    programs[i]->connection() = std::make_unique<engine::Connection>(connection, *programs[i]);
    engine::SendSettings sending = story.sending;
    sending.first_psn = story.psns[i];
    programs[i]->connection()->start_sending(sending);
  }
  world.run(kSecond + 100 * kSecond, [&] {
    return (left.done() && right.done()) || !left.complaint().empty() || !right.complaint().empty();
  });
  EXPECT_EQ(left.complaint(), "");
  EXPECT_EQ(right.complaint(), "");
  EXPECT_TRUE(left.done() && left.served()) << left.progress();
  EXPECT_TRUE(right.done() && right.served()) << right.progress();
}

TEST(ReliableSimulation, DeliversEveryByteOnceAndInOrderWhateverTheLinkDoes) {
  const std::uint64_t first = from_environment("GDR_SIM_FIRST", 1);
  const std::uint64_t seeds = from_environment("GDR_SIM_SEEDS", 2000);
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    play(seed);
    ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace gdr::sim
