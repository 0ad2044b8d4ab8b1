#include "rnic/receive_hash.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/bytes.h"

namespace gdr::rnic {
namespace {

// The key and the expected hashes of Microsoft's "Verifying the RSS hash calculation".
constexpr std::uint8_t kKey[kHashKeyBytes] = {
    0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3,
    0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3,
    0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa};

constexpr std::uint32_t kIpv4 = IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4;
constexpr std::uint32_t kIpv6 = IBV_RX_HASH_SRC_IPV6 | IBV_RX_HASH_DST_IPV6;
constexpr std::uint32_t kTcp = IBV_RX_HASH_SRC_PORT_TCP | IBV_RX_HASH_DST_PORT_TCP;

using Bytes = std::vector<std::uint8_t>;

Bytes tcp_frame(const char* source, std::uint16_t source_port, const char* target,
                std::uint16_t target_port) {
  Bytes frame(14 + 20 + 20);
  store_be16(&frame[12], 0x0800);
  frame[14] = 0x45;
  store_be16(&frame[16], 40);
  frame[23] = 6;
  EXPECT_EQ(inet_pton(AF_INET, source, &frame[26]), 1);
  EXPECT_EQ(inet_pton(AF_INET, target, &frame[30]), 1);
  store_be16(&frame[34], source_port);
  store_be16(&frame[36], target_port);
  return frame;
}

Bytes tcp6_frame(const char* source, std::uint16_t source_port, const char* target,
                 std::uint16_t target_port) {
  Bytes frame(14 + 40 + 20);
  store_be16(&frame[12], 0x86dd);
  frame[14] = 0x60;
  store_be16(&frame[18], 20);
  frame[20] = 6;
  EXPECT_EQ(inet_pton(AF_INET6, source, &frame[22]), 1);
  EXPECT_EQ(inet_pton(AF_INET6, target, &frame[38]), 1);
  store_be16(&frame[54], source_port);
  store_be16(&frame[56], target_port);
  return frame;
}

TEST(ReceiveHash, IsMicrosoftsOfIpv4WithAndWithoutPorts) {
  const Bytes one = tcp_frame("66.9.149.187", 2794, "161.142.100.80", 1766);
  EXPECT_EQ(receive_hash(kIpv4 | kTcp, kKey, one), 0x51ccc178u);
  EXPECT_EQ(receive_hash(kIpv4, kKey, one), 0x323e8fc2u);
  const Bytes two = tcp_frame("199.92.111.2", 14230, "65.69.140.83", 4739);
  EXPECT_EQ(receive_hash(kIpv4 | kTcp, kKey, two), 0xc626b0eau);
  EXPECT_EQ(receive_hash(kIpv4, kKey, two), 0xd718262au);
}

TEST(ReceiveHash, IsMicrosoftsOfIpv6WithAndWithoutPorts) {
  const Bytes frame = tcp6_frame("3ffe:2501:200:1fff::7", 2794, "3ffe:2501:200:3::1", 1766);
  EXPECT_EQ(receive_hash(kIpv6 | kTcp, kKey, frame), 0x40207d3du);
  EXPECT_EQ(receive_hash(kIpv6, kKey, frame), 0x2cc18cd5u);
}

TEST(ReceiveHash, IsZeroWhereTheFrameHasNoneOfTheFields) {
  const Bytes frame = tcp_frame("66.9.149.187", 2794, "161.142.100.80", 1766);
  EXPECT_EQ(receive_hash(kIpv6, kKey, frame), 0u);
  EXPECT_EQ(receive_hash(IBV_RX_HASH_SRC_PORT_UDP, kKey, frame), 0u);
  EXPECT_EQ(receive_hash(0, kKey, frame), 0u);
  for (std::size_t size = 0; size < 34; ++size) {
    EXPECT_EQ(receive_hash(kIpv4, kKey, std::span(frame).first(size)), 0u) << size;
  }
}

class Spread : public testing::Test {
 protected:
  void SetUp() override {
    auto made = Segment::create(make_token(1, 1), *parse_devices("a"));
    ASSERT_TRUE(made) << made.error().message;
    segment_ = *std::move(made);
    spread_.fields = kIpv4;
    spread_.size = 4;
    std::memcpy(spread_.key, kKey, sizeof kKey);
    for (std::uint32_t i = 0; i < 4; ++i) spread_.queue_pair[i] = 100 + i;
  }
  SharedSpread& shared(std::uint64_t place) {
    return *static_cast<SharedSpread*>(segment_->arena(place, sizeof(SharedSpread)));
  }

  std::unique_ptr<Segment> segment_;
  SharedSpread spread_{};
  const Bytes frame_ = tcp_frame("66.9.149.187", 2794, "161.142.100.80", 1766);
};

TEST_F(Spread, TakesTheHashsLowBitsForAnEntry) {
  const Result<std::uint64_t> place = make_spread(*segment_, spread_);
  ASSERT_TRUE(place);
  EXPECT_EQ(spread_to(*segment_, *place, frame_), 100 + (0x323e8fc2u & 3));
}

TEST_F(Spread, IsRefusedWithANumberOfEntriesThatIsNoPowerOfTwoOrTooLarge) {
  for (const std::uint32_t size : {0u, 3u, 256u}) {
    spread_.size = size;
    const Result<std::uint64_t> place = make_spread(*segment_, spread_);
    ASSERT_FALSE(place) << size;
    EXPECT_EQ(place.error().code, EINVAL);
  }
}

TEST_F(Spread, SurvivesWhatAnotherProcessWroteOverIt) {
  const std::uint64_t place = *make_spread(*segment_, spread_);
  shared(place).size = 0xffffffff;
  EXPECT_EQ(spread_to(*segment_, place, frame_), std::nullopt);
  shared(place).size = 0;
  EXPECT_EQ(spread_to(*segment_, place, frame_), std::nullopt);
  EXPECT_EQ(spread_to(*segment_, kSegmentBytes - 64, frame_), std::nullopt);
  EXPECT_EQ(spread_to(*segment_, 64, frame_), std::nullopt);
}

}  // namespace
}  // namespace gdr::rnic
