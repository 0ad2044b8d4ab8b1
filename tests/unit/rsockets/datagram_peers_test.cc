#include "rsockets/datagram_peers.h"

#include <gtest/gtest.h>

namespace gdr::rsockets {
namespace {

Name name(std::uint16_t port) { return {{}, port, 0}; }

TEST(RsocketDatagramPeers, KeepsWhatItKnowsOfEach) {
  DatagramPeers peers(4);
  peers.at(name(1)).queue_pair = 11;
  peers.at(name(2)).queue_pair = 12;
  EXPECT_EQ(peers.at(name(1)).queue_pair, 11u);
  EXPECT_EQ(peers.at(name(1)).name, name(1));
  ASSERT_NE(peers.find(name(2)), nullptr);
  EXPECT_EQ(peers.find(name(2))->queue_pair, 12u);
  EXPECT_EQ(peers.find(name(3)), nullptr);
}

TEST(RsocketDatagramPeers, ForgetsWhoWasNotHeardOfForLongest) {
  DatagramPeers peers(3);
  for (std::uint16_t port : {1, 2, 3}) peers.at(name(port)).queue_pair = port;
  peers.find(name(1));
  peers.at(name(4));
  EXPECT_EQ(peers.size(), 3u);
  EXPECT_EQ(peers.find(name(2)), nullptr);
  EXPECT_NE(peers.find(name(1)), nullptr);
  EXPECT_NE(peers.find(name(3)), nullptr);
  EXPECT_FALSE(peers.at(name(4)).queue_pair);
}

TEST(RsocketDatagramPeers, HasRoomForNoMoreHoweverManyStrangersThereAre) {
  DatagramPeers peers(16);
  for (std::uint16_t port = 1; port < 10000; ++port) peers.at(name(port));
  EXPECT_EQ(peers.size(), 16u);
}

}  // namespace
}  // namespace gdr::rsockets
