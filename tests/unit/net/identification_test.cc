#include "net/identification.h"

#include <random>

#include "packets.h"

namespace gdr::net {
namespace {

constexpr std::uint32_t kPsn = 9;

class IdentificationTest : public testing::Test {
 protected:
  // A packet with that identification arrives, the `guess`th of those that came together.
  bool accepts(std::uint16_t identification, std::uint16_t guess = 0, Nanoseconds time = kSecond) {
    return seen_.accept(flow_, make_packet(flow_, identification, kPsn), guess, time);
  }
  bool accepts(const Bytes& packet) { return seen_.accept(flow_, packet, 0, kSecond); }

  const wire::Flow flow_ = flow_between(ipv4(10, 0, 0, 1), ipv4(10, 0, 0, 2));
  Identifications seen_;
};

TEST_F(IdentificationTest, IsGuessedOfWhatCameTogether) {
  for (std::uint16_t place = 0; place < kMostPackets; ++place) EXPECT_TRUE(accepts(place, place));
}

TEST_F(IdentificationTest, IsFoundOfABurstThatWasTakenApart) {
  for (const std::uint16_t place : {5, 3, 3, 0, 59, 7}) EXPECT_TRUE(accepts(place));
  EXPECT_TRUE(accepts(30, 2));
}

TEST_F(IdentificationTest, OfASourceThatCountsIsFollowed) {
  for (std::uint32_t i = 0x1000; i < 0x1400; ++i) {
    ASSERT_TRUE(accepts(static_cast<std::uint16_t>(i))) << i;
  }
  EXPECT_TRUE(accepts(0x1300)) << "a packet that came late";
}

TEST_F(IdentificationTest, OfASourceThatCountsIsFollowedAroundItsEnd) {
  for (std::uint32_t i = 0xff00; i < 0x10100; ++i) {
    ASSERT_TRUE(accepts(static_cast<std::uint16_t>(i))) << i;
  }
}

TEST_F(IdentificationTest, FarFromTheLastIsRefused) {
  EXPECT_TRUE(accepts(0x1000));
  EXPECT_FALSE(accepts(0x9000));
  EXPECT_TRUE(accepts(0x1001)) << "what was refused changes nothing";
  EXPECT_FALSE(accepts(0x5000));
}

TEST_F(IdentificationTest, FarFromTheLastIsBelievedWhenTheNextIsBesideIt) {
  EXPECT_TRUE(accepts(0x1000));
  EXPECT_FALSE(accepts(0x9000));
  EXPECT_TRUE(accepts(0x9001));
  EXPECT_TRUE(accepts(0x9002));
}

// Linux adds up to one for each tick that has passed.
TEST_F(IdentificationTest, MayHaveMovedOnWithTime) {
  EXPECT_TRUE(accepts(0x1000, 0, kSecond));
  EXPECT_TRUE(accepts(0x1000 + 5000, 0, 11 * kSecond));
  EXPECT_FALSE(accepts(0x1000 + 5000 + 5000, 0, 11 * kSecond));
}

TEST_F(IdentificationTest, OfOneSourceSaysNothingOfAnothers) {
  EXPECT_TRUE(accepts(0x1000));
  const wire::Flow other = flow_between(ipv4(10, 0, 0, 3), ipv4(10, 0, 0, 2));
  EXPECT_TRUE(seen_.accept(other, make_packet(other, 0x9000, kPsn), 0, kSecond));
  EXPECT_TRUE(accepts(0x1001));
}

TEST_F(IdentificationTest, IsNotThereInIpv6SoThatEveryBitIsChecked) {
  wire::Flow flow = flow_;
  flow.source = {0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  flow.destination = {0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2};
  Bytes packet = make_packet(flow, 0, kPsn);
  EXPECT_TRUE(seen_.accept(flow, packet, 0, kSecond));
  for (std::size_t at = 5; at < packet.size(); ++at) {
    packet[at] ^= std::byte{1};
    EXPECT_FALSE(seen_.accept(flow, packet, 0, kSecond)) << at;
    packet[at] ^= std::byte{1};
  }
  // Nor for an ICRC that is wrong as one of IPv4 is when its identification is another.
  const Bytes first = make_packet(flow_, 0, kPsn), second = make_packet(flow_, 5, kPsn);
  ASSERT_EQ(first.size(), packet.size());
  for (std::size_t at = packet.size() - wire::kIcrcBytes; at < packet.size(); ++at) {
    packet[at] ^= first[at] ^ second[at];
  }
  EXPECT_FALSE(seen_.accept(flow, packet, 0, kSecond));
}

TEST_F(IdentificationTest, IsNotFoundOfAPacketThatChangedOnItsWay) {
  std::mt19937 random(1);
  int accepted = 0;
  constexpr int kRounds = 20'000;
  for (int round = 0; round < kRounds; ++round) {
    Bytes packet = make_packet(flow_, 0, static_cast<std::uint32_t>(round), random() % 100);
    const std::size_t at = 5 + random() % (packet.size() - 5);
    packet[at] ^= static_cast<std::byte>(1 + random() % 255);
    accepted += accepts(packet) ? 1 : 0;
  }
  EXPECT_LE(accepted, 2) << "of " << kRounds << "; one in 65536 has an identification at all";
}

TEST_F(IdentificationTest, OfManySourcesIsForgottenAtMost) {
  for (int i = 0; i < 10'000; ++i) {
    const wire::Flow flow =
        flow_between(ipv4(10, 1, static_cast<std::uint8_t>(i >> 8), static_cast<std::uint8_t>(i)),
                     flow_.destination);
    ASSERT_TRUE(seen_.accept(flow, make_packet(flow, 0x7000, kPsn, 0), 0, kSecond));
  }
  EXPECT_TRUE(accepts(3)) << "what this library sends is found without";
}

}  // namespace
}  // namespace gdr::net
