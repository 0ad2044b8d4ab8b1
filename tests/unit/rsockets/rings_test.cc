#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <vector>

#include "rsockets/receive_ring.h"
#include "rsockets/send_ring.h"

namespace gdr::rsockets {
namespace {

TEST(RsocketSendRing, CutsWhatCrossesItsEndInTwo) {
  SendRing ring(100);
  ring.place(70);
  ring.release(70);
  const SendRing::Pieces pieces = ring.place(50);
  EXPECT_EQ(pieces.first.offset, 70U);
  EXPECT_EQ(pieces.first.length, 30U);
  EXPECT_EQ(pieces.second.offset, 0U);
  EXPECT_EQ(pieces.second.length, 20U);
  EXPECT_EQ(ring.free(), 50U);
  EXPECT_EQ(ring.place(10).first.offset, 20U);
}

TEST(RsocketSendRing, BeginsAgainAtItsStartBehindWhatEndsAtItsEnd) {
  SendRing ring(100);
  ring.place(100);
  EXPECT_EQ(ring.free(), 0U);
  ring.release(100);
  EXPECT_TRUE(ring.idle());
  EXPECT_EQ(ring.place(1).first.offset, 0U);
}

TEST(RsocketReceiveRing, RefusesMoreBytesThanWereGranted) {
  std::vector<std::uint8_t> buffer(64);
  ReceiveRing ring(buffer, 16);
  EXPECT_FALSE(ring.arrived(33));
  EXPECT_TRUE(ring.arrived(32));
  EXPECT_FALSE(ring.arrived(1));
  EXPECT_EQ(ring.grant_half(), 32U);
  EXPECT_TRUE(ring.arrived(1));
}

TEST(RsocketReceiveRing, RefusesMoreMessagesThanItsQueueHoldsAndEmptyOnes) {
  std::vector<std::uint8_t> buffer(64);
  ReceiveRing ring(buffer, 4);
  EXPECT_FALSE(ring.arrived(0));
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(ring.arrived(1));
  EXPECT_FALSE(ring.arrived(1));
  std::uint8_t one = 0;
  ring.read({&one, 1});
  EXPECT_EQ(ring.take_finished(), 1U);
  EXPECT_TRUE(ring.arrived(1));
}

TEST(RsocketReceiveRing, PeeksWithoutTaking) {
  std::vector<std::uint8_t> buffer{1, 2, 3, 4};
  ReceiveRing ring(buffer, 4);
  ASSERT_TRUE(ring.arrived(2));
  std::vector<std::uint8_t> seen(8);
  EXPECT_EQ(ring.peek(seen), 2U);
  EXPECT_EQ(ring.read(seen), 2U);
  EXPECT_EQ(seen[1], 2);
  EXPECT_EQ(ring.read(seen), 0U);
}

// A sender that writes where it was told, as the peer's NIC would.
TEST(RsocketReceiveRing, GivesEveryByteInOrderWhateverTheSizes) {
  std::mt19937 random(20);
  std::vector<std::uint8_t> buffer(256);
  ReceiveRing ring(buffer, 8);
  std::deque<std::pair<std::uint32_t, std::uint32_t>> targets{{0, ring.half()}};
  std::uint32_t waiting = 0;
  std::uint8_t sent = 0;
  std::uint8_t read = 0;
  for (int round = 0; round < 20'000; ++round) {
    if (ring.half_is_free()) targets.emplace_back(ring.grant_half(), ring.half());
    if (!targets.empty() && waiting < 8) {
      auto& [offset, room] = targets.front();
      const std::uint32_t count = 1 + static_cast<std::uint32_t>(random() % room);
      for (std::uint32_t i = 0; i < count; ++i) buffer[offset + i] = sent++;
      ASSERT_TRUE(ring.arrived(count));
      ++waiting;
      offset += count;
      room -= count;
      if (room == 0) targets.pop_front();
    }
    std::vector<std::uint8_t> bytes(random() % 100);
    bytes.resize(ring.read(bytes));
    waiting -= ring.take_finished();
    for (const std::uint8_t byte : bytes) ASSERT_EQ(byte, read++) << round;
  }
}

}  // namespace
}  // namespace gdr::rsockets
