#include "proof/frame.h"

#include <gtest/gtest.h>

#include "base/internet_checksum.h"

namespace gdr::proof {
namespace {

FrameAddress address() {
  return {{2, 0, 0, 0, 0, 2}, {2, 0, 0, 0, 0, 1}, 0x0a000001, 0x0a000002, 4000, 54791};
}

// The rule of RFC 768 and RFC 1071 from the receiver's side: everything, checksum included, sums to
// 0.
std::uint16_t udp_sum(const process::Bytes& frame) {
  const std::span<const std::byte> udp = std::span(frame).subspan(34);
  std::uint32_t pseudo = 17 + static_cast<std::uint32_t>(udp.size());
  for (std::size_t i = 26; i < 34; i += 2) pseudo += load_be16(frame.data() + i);
  return internet_checksum(udp, pseudo);
}

TEST(Frame, HasEveryHeaderFieldInItsPlace) {
  const process::Bytes frame = build_frame(address(), process::Bytes(20, std::byte{0x55}));
  ASSERT_EQ(frame.size(), 62u);
  EXPECT_EQ(frame[5], std::byte{2});
  EXPECT_EQ(frame[11], std::byte{1});
  EXPECT_EQ(load_be16(frame.data() + 12), 0x0800);
  EXPECT_EQ(load_be16(frame.data() + 16), 48) << "total length of the IPv4 packet";
  EXPECT_EQ(frame[23], std::byte{17});
  EXPECT_EQ(load_be32(frame.data() + 26), 0x0a000001u);
  EXPECT_EQ(load_be32(frame.data() + 30), 0x0a000002u);
  EXPECT_EQ(load_be16(frame.data() + 36), 54791);
  EXPECT_EQ(load_be16(frame.data() + 38), 28) << "length of the UDP datagram";
}

TEST(Frame, ChecksumsAreRightForOddAndEvenPayloads) {
  for (std::size_t size : {18u, 19u, 64u, 1471u, 1472u}) {
    process::Bytes payload(size);
    for (std::size_t i = 0; i < size; ++i) payload[i] = static_cast<std::byte>(i * 37 + size);
    const process::Bytes frame = build_frame(address(), payload);
    EXPECT_EQ(internet_checksum(std::span(frame).subspan(14, 20)), 0) << size;
    EXPECT_EQ(udp_sum(frame), 0) << size;
  }
}

}  // namespace
}  // namespace gdr::proof
