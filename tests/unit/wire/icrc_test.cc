#include <gtest/gtest.h>

#include <random>

#include "ip_packet.h"
#include "wire/opcode.h"

namespace gdr::wire {
namespace {

// Any packet, its fields that are not covered filled with anything.
IpPacket random_packet(std::mt19937& random, bool ipv4, std::size_t udp_payload) {
  const std::size_t ip_bytes = ipv4 ? 20 : 40;
  Bytes bytes(ip_bytes + 8 + udp_payload);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  const auto udp_bytes = static_cast<std::uint16_t>(8 + udp_payload);
  if (ipv4) {
    bytes[0] = std::byte{0x45};
    store_be16(bytes.data() + 2, static_cast<std::uint16_t>(20 + udp_bytes));
    store_be16(bytes.data() + 6, 0x4000);
    bytes[9] = std::byte{17};
  } else {
    bytes[0] = (bytes[0] & std::byte{0x0f}) | std::byte{0x60};
    store_be16(bytes.data() + 4, udp_bytes);
    bytes[6] = std::byte{17};
  }
  store_be16(bytes.data() + ip_bytes + 2, kRocePort);
  store_be16(bytes.data() + ip_bytes + 4, udp_bytes);
  IpPacket packet(bytes);
  const std::uint32_t icrc = packet.slow_icrc();
  store_be32(packet.bytes.data() + packet.bytes.size() - 4, __builtin_bswap32(icrc));
  return packet;
}

std::size_t random_size(std::mt19937& random) { return kBthBytes + kIcrcBytes + random() % 4200; }

TEST(Icrc, CoversWhatTheAnnexSaysOfAnIpv4Packet) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const IpPacket packet = random_packet(random, true, random_size(random));
    ASSERT_EQ(icrc_of(packet.flow(), packet.identification(), packet.without_icrc()),
              packet.icrc());
  }
}

TEST(Icrc, CoversWhatTheAnnexSaysOfAnIpv6Packet) {
  std::mt19937 random(2);
  for (int round = 0; round < 300; ++round) {
    const IpPacket packet = random_packet(random, false, random_size(random));
    ASSERT_EQ(icrc_of(packet.flow(), static_cast<std::uint16_t>(random()), packet.without_icrc()),
              packet.icrc());
  }
}

TEST(Icrc, IsTheSameInAnyPieces) {
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    const IpPacket packet = random_packet(random, round % 2 == 0, 16 + random() % 300);
    const std::span<const std::byte> bytes = packet.without_icrc();
    const std::size_t headers = kBthBytes + random() % (bytes.size() - kBthBytes + 1);
    const std::size_t payload = random() % (bytes.size() - headers + 1);
    Icrc icrc = icrc_begin(packet.flow(), packet.identification(), bytes.size() + kIcrcBytes,
                           bytes.first(headers));
    icrc.add(bytes.subspan(headers, payload));
    icrc.add(bytes.subspan(headers + payload));
    ASSERT_EQ(icrc.value(), packet.icrc());
  }
}

TEST(Icrc, DoesNotCoverCongestionNotification) {
  std::mt19937 random(4);
  IpPacket packet = random_packet(random, true, 64);
  packet.bytes[20 + 8 + 4] ^= std::byte{0xc0};  // FECN and BECN, set by the way
  EXPECT_EQ(icrc_of(packet.flow(), packet.identification(), packet.without_icrc()), packet.icrc());
}

TEST(Icrc, SolvesForTheIdentificationThatTheKernelChose) {
  std::mt19937 random(5);
  for (int round = 0; round < 2000; ++round) {
    const IpPacket packet = random_packet(random, true, random_size(random));
    const std::uint32_t computed = icrc_of(packet.flow(), 0, packet.without_icrc());
    ASSERT_EQ(solve_identification(computed, packet.icrc(), packet.datagram().size()),
              packet.identification())
        << packet.datagram().size() << " bytes";
  }
}

TEST(Icrc, SolvesForEachIdentificationAtEachSize) {
  Flow flow{};
  flow.source[10] = flow.source[11] = 0xff;
  flow.destination = flow.source;
  for (const std::size_t size : {16, 20, 300, 1044, 4120, 65507}) {
    const Bytes bytes(size - kIcrcBytes, std::byte{0x5a});
    const std::uint32_t computed = icrc_of(flow, 0, bytes);
    // By linearity one bit each is enough, and all together.
    for (int bit = 0; bit < 16; ++bit) {
      const auto one = static_cast<std::uint16_t>(1u << bit);
      ASSERT_EQ(solve_identification(computed, icrc_of(flow, one, bytes), size), one);
    }
    ASSERT_EQ(solve_identification(computed, icrc_of(flow, 0xffff, bytes), size), 0xffff);
    ASSERT_EQ(solve_identification(computed, computed, size), 0);
  }
}

TEST(Icrc, FindsNoIdentificationOfACorruptedPacket) {
  std::mt19937 random(6);
  int found = 0;
  constexpr int kRounds = 20'000;
  for (int round = 0; round < kRounds; ++round) {
    IpPacket packet = random_packet(random, true, 16 + random() % 100);
    const std::size_t at = 20 + 8 + 5 + random() % (packet.without_icrc().size() - 5);
    packet.bytes[at] ^= static_cast<std::byte>(1 + random() % 255);
    const std::uint32_t computed = icrc_of(packet.flow(), 0, packet.without_icrc());
    const auto solved = solve_identification(computed, packet.icrc(), packet.datagram().size());
    found += solved.has_value() ? 1 : 0;
    // An error of up to eight bits in a row never looks like the same packet.
    ASSERT_NE(solved, packet.identification());
  }
  EXPECT_LE(found, 5) << "of " << kRounds << "; one in 65536 is expected";
}

TEST(Icrc, FindsNoIdentificationOfAnImpossibleSize) {
  EXPECT_EQ(solve_identification(1, 1, 3), std::nullopt);
  EXPECT_EQ(solve_identification(1, 1, 65508), std::nullopt);
}

TEST(Icrc, KnowsAnIpv4Address) {
  EXPECT_TRUE(is_ipv4({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 99, 0, 1}));
  EXPECT_FALSE(is_ipv4({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 99, 0, 1}));
  EXPECT_FALSE(is_ipv4({0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0xff, 0xff, 10, 99, 0, 1}));
  EXPECT_FALSE(is_ipv4({0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 99, 0, 1}));
}

}  // namespace
}  // namespace gdr::wire
