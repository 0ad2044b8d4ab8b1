#include "rsockets/datagram_protocol.h"

#include <gtest/gtest.h>

#include <vector>

namespace gdr::rsockets {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr Address kV4{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 1, 2, 3};
constexpr Address kV6{0x20, 1, 0xd, 0xb8, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

Bytes bytes_of(const Header& header) { return {header.bytes().begin(), header.bytes().end()}; }

TEST(RsocketDatagramProtocol, LaysAnnouncementsOutAsRdmaCoreDoes) {
  EXPECT_EQ(bytes_of(encode(Announcement{true, 0x123456, kV4})),
            (Bytes{0x55, 0x55, 0x55, 0x55, 4, 0, 16, 0, 0, 0x12, 0x34, 0x56, 10, 1, 2, 3}));
  Bytes expected{0x55, 0x55, 0x55, 0x55, 6, 7, 28, 0, 0, 0xab, 0xcd, 0xef};
  expected.insert(expected.end(), kV6.begin(), kV6.end());
  EXPECT_EQ(bytes_of(encode(Announcement{false, 0xabcdef, kV6})), expected);
}

TEST(RsocketDatagramProtocol, LaysSendersOutAsRdmaCoreDoes) {
  EXPECT_EQ(bytes_of(encode(Name{kV4, 0x1c06, 0})), (Bytes{4, 8, 0x1c, 6, 10, 1, 2, 3}));
  Bytes expected{6, 24, 0x1c, 6, 0, 0, 0, 0};
  expected.insert(expected.end(), kV6.begin(), kV6.end());
  EXPECT_EQ(bytes_of(encode(Name{kV6, 0x1c06, 3})), expected);
}

TEST(RsocketDatagramProtocol, ReadsBackWhatItWrote) {
  for (const Address& address : {kV4, kV6}) {
    Bytes packet = bytes_of(encode(Announcement{true, 0xabcdef, address}));
    packet.push_back(1);
    std::size_t size = 0;
    const auto announced = decode_announcement(packet, size);
    ASSERT_TRUE(announced);
    EXPECT_EQ(size, packet.size() - 1);
    EXPECT_TRUE(announced->carries_data);
    EXPECT_EQ(announced->queue_pair, 0xabcdefu);
    EXPECT_EQ(announced->address, address);
    const Bytes message = bytes_of(encode(Name{address, 99, 0}));
    const auto sender = decode_sender(message, size);
    ASSERT_TRUE(sender);
    EXPECT_EQ(size, message.size());
    EXPECT_EQ(*sender, (Name{address, 99, 0}));
  }
}

TEST(RsocketDatagramProtocol, RefusesEachCutHeader) {
  for (const Address& address : {kV4, kV6}) {
    const Bytes packet = bytes_of(encode(Announcement{true, 1, address}));
    const Bytes message = bytes_of(encode(Name{address, 1, 0}));
    std::size_t size = 0;
    for (std::size_t i = 0; i < packet.size(); ++i) {
      EXPECT_FALSE(decode_announcement(std::span(packet).first(i), size)) << i;
    }
    for (std::size_t i = 0; i < message.size(); ++i) {
      EXPECT_FALSE(decode_sender(std::span(message).first(i), size)) << i;
    }
  }
}

TEST(RsocketDatagramProtocol, RefusesForeignTagsVersionsLengthsAndOperations) {
  const Bytes packet = bytes_of(encode(Announcement{true, 1, kV4}));
  std::size_t size = 0;
  for (const std::size_t place : {0, 3, 4, 5, 6}) {
    for (const int value : {1, 28, 255}) {
      Bytes wrong = packet;
      wrong[place] = static_cast<std::uint8_t>(value);
      wrong.resize(300);
      EXPECT_FALSE(decode_announcement(wrong, size)) << place << " " << value;
    }
  }
  for (const std::size_t place : {0, 1}) {
    for (const int value : {5, 24, 255}) {
      Bytes wrong = bytes_of(encode(Name{kV4, 1, 0}));
      wrong[place] = static_cast<std::uint8_t>(value);
      wrong.resize(300);
      EXPECT_FALSE(decode_sender(wrong, size)) << place << " " << value;
    }
  }
}

}  // namespace
}  // namespace gdr::rsockets
