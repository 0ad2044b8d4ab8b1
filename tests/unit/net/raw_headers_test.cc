// Identifications where a raw socket is permitted: all 32 bits of the ICRC are checked, also of
// what was sent again and of what the UDP socket never got.
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "base/bytes.h"
#include "base/unique_fd.h"
#include "net/identification.h"
#include "net/socket_address.h"
#include "packets.h"

namespace gdr::net {
namespace {

constexpr std::uint16_t kFirst = 0x1000;  // what makes the source a watched one
constexpr std::uint32_t kFirstPsn = 9;

class RawHeadersTest : public testing::Test {
 protected:
  void SetUp() override {
    sender_.reset(socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW));
    if (!sender_) GTEST_SKIP() << "a raw socket: " << std::strerror(errno);
    EXPECT_TRUE(accepts({make_packet(flow_, kFirst, kFirstPsn)}));
  }

  // Passes the host's IP layer, as a packet of that identification.
  void arrives(std::uint16_t identification, const Bytes& packet) {
    Bytes bytes(20 + 8);
    auto* ip = reinterpret_cast<std::uint8_t*>(bytes.data());
    ip[0] = 0x45;
    store_be16(ip + 4, identification);
    store_be16(ip + 6, 0x4000);
    ip[8] = 64;
    ip[9] = IPPROTO_UDP;
    std::memcpy(ip + 12, flow_.source.data() + 12, 4);
    std::memcpy(ip + 16, flow_.destination.data() + 12, 4);
    store_be16(ip + 20, wire::kRocePort);
    store_be16(ip + 22, wire::kRocePort);
    store_be16(ip + 24, static_cast<std::uint16_t>(8 + packet.size()));
    bytes.insert(bytes.end(), packet.begin(), packet.end());
    const SocketAddress to = socket_address(flow_.destination, 0);
    ASSERT_EQ(sendto(sender_.get(), bytes.data(), bytes.size(), 0, to.get(), to.length),
              static_cast<ssize_t>(bytes.size()))
        << std::strerror(errno);
  }

  // The UDP socket gives these together: whether all are accepted.
  bool accepts(const std::vector<Bytes>& packets) {
    seen_.begin(flow_.source, packets.front());
    bool all = true;
    for (std::uint16_t place = 0; place < packets.size(); ++place) {
      all = seen_.accept(flow_, packets[place], place, kSecond) && all;
    }
    return all;
  }

  const wire::Flow flow_ = flow_between(address_of_this_test(1), address_of_this_test(2));
  UniqueFd sender_;
  Identifications seen_;
};

TEST_F(RawHeadersTest, ADifferentIdentificationThanThatSeenIsRefusedHoweverNear) {
  for (const std::uint16_t seen : {kFirst + 1, kFirst + 3}) {
    const Bytes packet = make_packet(flow_, kFirst + 2, kFirstPsn + seen);
    arrives(seen, packet);
    EXPECT_FALSE(accepts({packet})) << seen;
  }
}

TEST_F(RawHeadersTest, AnIdentificationFarFromTheLastIsAcceptedWhenItWasSeen) {
  const Bytes packet = make_packet(flow_, 0x9000, kFirstPsn);
  arrives(0x9000, packet);
  EXPECT_TRUE(accepts({packet}));
}

// Its UDP checksum had been damaged, or the UDP socket was full.
TEST_F(RawHeadersTest, APacketSentAgainIsAcceptedThoughItsFirstCopyNeverCameToTheSocket) {
  arrives(0x2000, make_packet(flow_, 0x2000, kFirstPsn));
  for (const std::uint16_t identification : {0x9000, 0xa000, 0xb000}) {
    const Bytes again = make_packet(flow_, identification, kFirstPsn);
    arrives(identification, again);
    EXPECT_TRUE(accepts({again})) << identification;
  }
}

TEST_F(RawHeadersTest, WhatCameTogetherCountsFromTheFirstWhichAloneWasSeen) {
  std::vector<Bytes> packets;
  for (std::uint16_t i = 0; i < 4; ++i)
    packets.push_back(make_packet(flow_, 0x9000 + i, kFirstPsn + i));
  arrives(0x9000, packets[0]);
  EXPECT_TRUE(accepts(packets));
  packets[3] = make_packet(flow_, 0x9004, kFirstPsn + 3);
  EXPECT_FALSE(accepts(packets));
}

TEST_F(RawHeadersTest, BehindADamagedPacketTheOthersOfItsBurstAreAccepted) {
  std::vector<Bytes> packets;
  for (std::uint16_t i = 0; i < 3; ++i)
    packets.push_back(make_packet(flow_, 0x9000 + i, kFirstPsn + i));
  packets[0][20] ^= std::byte{1};
  arrives(0x9000, packets[0]);
  seen_.begin(flow_.source, packets[0]);
  EXPECT_FALSE(seen_.accept(flow_, packets[0], 0, kSecond));
  EXPECT_TRUE(seen_.accept(flow_, packets[1], 1, kSecond));
  EXPECT_TRUE(seen_.accept(flow_, packets[2], 2, kSecond));
}

}  // namespace
}  // namespace gdr::net
