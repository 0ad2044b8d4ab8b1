// Bytes on their way into GPU memory: net/placer.h.
#include "net/placer.h"

#include <unistd.h>

#include <memory>
#include <vector>

#include "late_memory.h"

namespace gdr::net::test {
namespace {

constexpr bool kJoins = true, kAlone = false;

// For the life of the process, as in the library, where a thread fills it; found by what looks for
// leaks.
PinnedPool& lasting_pool() {
  static auto* const pools = new std::vector<std::unique_ptr<PinnedPool>>;
  return *pools->emplace_back(std::make_unique<PinnedPool>());
}

class PlacerTest : public testing::Test {
 protected:
  PlacerTest() { wait_for(pool, client); }
  std::optional<Placer::Ticket> put(std::size_t offset, std::size_t length, bool joins,
                                    std::uint8_t value = 1) {
    const std::vector<std::byte> bytes(length, std::byte{value});
    return placer.put(gpu.at(offset), bytes, joins, loss);
  }

  LateClient client;
  LateMemory gpu{client};
  PinnedPool& pool = lasting_pool();
  Placer placer{pool};
  Placer::Loss loss{Placer::kNone};
};

TEST_F(PlacerTest, PlacesBytesThatFollowOneAnotherInOneCopy) {
  for (std::size_t i = 0; i < 16; ++i) put(i * 4096, 4096, kJoins, static_cast<std::uint8_t>(i));
  placer.advance();
  ASSERT_EQ(client.started.size(), 1u);
  EXPECT_EQ(client.started[0].length, 16u * 4096);
  EXPECT_LT(placer.placed(), 1u);
  client.may_end = 1;
  placer.advance();
  EXPECT_TRUE(placer.is_idle());
  for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(gpu.bytes[i * 4096], std::byte(i));
}

TEST_F(PlacerTest, JoinsNothingToACopyThatHasBegun) {
  put(0, 100, kJoins);
  placer.advance();
  EXPECT_EQ(put(100, 100, kJoins), 2u);
  placer.advance();
  ASSERT_EQ(client.started.size(), 2u);
}

TEST_F(PlacerTest, LetsAPieceGrowWhileTwoAreUnderWay) {
  put(0, 64, kAlone);
  put(4096, 64, kAlone);
  put(8192, 64, kAlone);
  placer.advance();
  ASSERT_EQ(client.started.size(), 2u);
  put(8256, 64, kJoins);
  client.may_end = 2;
  placer.advance();
  ASSERT_EQ(client.started.size(), 3u);
  EXPECT_EQ(client.started[2].length, 128u);
}

TEST_F(PlacerTest, BeginsManyShortPiecesThatCannotGrow) {
  for (std::size_t i = 0; i < 10; ++i) put(i * 4096, 64, kAlone);
  placer.advance();
  EXPECT_EQ(client.started.size(), 9u);
}

TEST_F(PlacerTest, KeepsAWriteApartFromTheOneBeforeIt) {
  put(0, 64, kJoins);
  put(64, 8, kAlone);  // a flag right behind its data
  placer.advance();
  ASSERT_EQ(client.started.size(), 2u);
  EXPECT_EQ(client.started[1].to, gpu.address() + 64);
}

TEST_F(PlacerTest, CountsAPieceAsPlacedOnlyBehindAllBeforeIt) {
  client.one_gpu = true;
  put(0, 64, kAlone);
  put(4096, 64, kAlone);
  placer.advance();
  ASSERT_EQ(client.started.size(), 2u);
  EXPECT_EQ(placer.placed(), 0u);
  client.may_end = 1;
  placer.advance();
  EXPECT_EQ(placer.placed(), 1u);
  client.may_end = 2;
  placer.advance();
  EXPECT_EQ(placer.placed(), 2u);
}

TEST_F(PlacerTest, BeginsOnAnotherGpuOnlyWhenTheFirstHasEnded) {
  client.one_gpu = false;
  LateMemory other(client);
  put(0, 64, kAlone);
  ASSERT_TRUE(placer.put(other.at(0), std::vector<std::byte>(8), kAlone, loss));
  placer.advance();
  EXPECT_EQ(client.started.size(), 1u);
  client.may_end = 1;
  placer.advance();
  EXPECT_EQ(client.started.size(), 2u);
}

TEST_F(PlacerTest, WritesHostMemoryInItsTurn) {
  std::uint64_t flag = 0;
  rnic::Place host;
  host.address = reinterpret_cast<std::uint64_t>(&flag);
  put(0, 64, kAlone);
  const std::uint64_t one = 1;
  ASSERT_EQ(placer.put(host, std::as_bytes(std::span(&one, 1)), kAlone, loss), 2u);
  placer.advance();
  EXPECT_EQ(flag, 0u);
  client.may_end = 1;
  placer.advance();
  EXPECT_EQ(flag, 1u);
  EXPECT_TRUE(placer.is_idle());
}

TEST_F(PlacerTest, SaysWhichPieceWasLostAndPlacesNothingOfThatQueuePairBehindIt) {
  Placer::Loss others{Placer::kNone};
  put(0, 64, kAlone);
  put(64, 64, kAlone);
  put(128, 64, kAlone);
  ASSERT_TRUE(placer.put(gpu.at(4096), std::vector<std::byte>(8), kAlone, others));
  client.may_end = 8;
  client.failing = 1;
  placer.advance();
  EXPECT_TRUE(placer.is_idle());
  EXPECT_EQ(loss.load(), 1u);
  EXPECT_EQ(others.load(), Placer::kNone);
  // Those that were under way with it are; what came later is not begun.
  const std::size_t begun = client.started.size();
  put(192, 64, kAlone);
  ASSERT_TRUE(placer.put(gpu.at(8192), std::vector<std::byte>(8), kAlone, others));
  placer.advance();
  ASSERT_EQ(client.started.size(), begun + 1);
  EXPECT_EQ(client.started.back().to, gpu.address() + 8192);
}

TEST_F(PlacerTest, LosesWhatGoesToMemoryThatWasFreed) {
  put(0, 64, kAlone);
  client.valid = false;
  placer.advance();
  EXPECT_TRUE(placer.is_idle());
  EXPECT_EQ(loss.load(), 1u);
}

TEST_F(PlacerTest, TakesNoMoreThanThePoolHas) {
  std::size_t taken = 0;
  while (put(taken % 200 * 4096, 4096, kAlone) && taken < 1u << 20) ++taken;
  EXPECT_EQ(taken, PinnedPool::kBlocks * PinnedPool::kBlock / 4096);
  client.may_end = ~0ull;
  placer.drain(taken);
  EXPECT_TRUE(put(0, 4096, kAlone));
  placer.drain(taken + 1);
  EXPECT_NE(pool.take(client), nullptr);
}

}  // namespace
}  // namespace gdr::net::test
