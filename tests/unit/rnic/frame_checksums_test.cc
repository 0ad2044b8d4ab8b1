// Frames from tcpdump'd traffic and RFC examples, not from the code under test.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "base/bytes.h"
#include "rnic/flow.h"

namespace gdr::rnic {
namespace {

using Frame = std::vector<std::uint8_t>;
constexpr std::size_t kIp = 14, kTransport = 34;

// The IPv4 header of the textbook example (checksum b861), 115 bytes in all, UDP from 68 to 67.
Frame udp_frame(std::size_t payload = 87) {
  Frame frame = {0x02, 0, 0, 0, 0, 1, 0x02, 0, 0, 0, 0, 2, 0x08, 0x00,
                 // IPv4
                 0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0xb8, 0x61, 0xc0, 0xa8,
                 0x00, 0x01, 0xc0, 0xa8, 0x00, 0xc7,
                 // UDP
                 0x00, 0x44, 0x00, 0x43, 0x00, 0x00, 0x00, 0x00};
  frame.resize(frame.size() + payload, 0xa5);
  store_be16(&frame[kIp + 2], static_cast<std::uint16_t>(28 + payload));
  store_be16(&frame[kTransport + 4], static_cast<std::uint16_t>(8 + payload));
  return frame;
}

Frame tcp_frame(std::size_t payload) {
  Frame frame = udp_frame(12 + payload);  // 8 + 12: a TCP header without options
  frame[kIp + 9] = 6;
  frame[kTransport + 12] = 0x50;
  return frame;
}

// Another way to the sum than the library's: byte by byte, carries added at once.
std::uint16_t plain_sum(const std::uint8_t* bytes, std::size_t count, std::uint32_t sum) {
  for (std::size_t i = 0; i < count; ++i) {
    sum += i % 2 == 0 ? std::uint32_t{bytes[i]} << 8 : bytes[i];
    if (sum > 0xffff) sum -= 0xffff;
  }
  return static_cast<std::uint16_t>(sum);
}

TEST(FrameChecksums, AgreeWithTheTextbookHeader) {
  Frame frame = udp_frame();
  EXPECT_TRUE(checksums_right(frame));  // UDP without a checksum, the header's as published
  store_be16(&frame[kIp + 10], 0xffff);
  EXPECT_FALSE(checksums_right(frame));
  fill_checksums(frame);
  EXPECT_EQ(load_be16(&frame[kIp + 10]), 0xb861);
}

TEST(FrameChecksums, FillWhatAnIndependentSumConfirmsAtEveryLength) {
  for (std::size_t payload = 0; payload < 70; ++payload) {
    for (Frame frame : {udp_frame(payload), tcp_frame(payload)}) {
      fill_checksums(frame);
      const std::size_t covered = frame.size() - kTransport;
      const std::uint32_t pseudo = frame[kIp + 9] + static_cast<std::uint32_t>(covered);
      const std::uint16_t sum =
          plain_sum(&frame[kTransport], covered, plain_sum(&frame[kIp + 12], 8, pseudo));
      EXPECT_EQ(sum, 0xffff) << payload;
      EXPECT_TRUE(checksums_right(frame)) << payload;
    }
  }
}

TEST(FrameChecksums, SeeEveryFlippedBitTheyCover) {
  for (Frame frame : {udp_frame(5), tcp_frame(5)}) {
    fill_checksums(frame);
    ASSERT_TRUE(checksums_right(frame));
    for (std::size_t bit = kIp * 8; bit < frame.size() * 8; ++bit) {
      Frame damaged = frame;
      damaged[bit / 8] ^= static_cast<std::uint8_t>(1u << (bit % 8));
      EXPECT_FALSE(checksums_right(damaged)) << "bit " << bit;
    }
  }
}

TEST(FrameChecksums, UdpNeverCarriesZeroThatWouldSayNone) {
  Frame frame = udp_frame(2);
  fill_checksums(frame);
  // Put what makes the sum all ones into the payload.
  const std::uint16_t checksum = load_be16(&frame[kTransport + 6]);
  const std::uint32_t payload = std::uint32_t{load_be16(&frame[kTransport + 8])} + checksum;
  store_be16(&frame[kTransport + 8], static_cast<std::uint16_t>(payload % 0xffff));
  fill_checksums(frame);
  EXPECT_EQ(load_be16(&frame[kTransport + 6]), 0xffff);
  EXPECT_TRUE(checksums_right(frame));
}

TEST(FrameChecksums, LookBehindVlanTags) {
  Frame frame = udp_frame(9);
  const std::vector<std::uint8_t> tag = {0x81, 0x00, 0x00, 0x05};
  frame.insert(frame.begin() + 12, tag.begin(), tag.end());
  fill_checksums(frame);
  EXPECT_TRUE(checksums_right(frame));
  frame.back() ^= 1;
  EXPECT_FALSE(checksums_right(frame));
}

TEST(FrameChecksums, IgnoreTheTrailerBehindTheDatagram) {
  Frame frame = udp_frame(1);
  fill_checksums(frame);
  frame.resize(60, 0x77);  // Ethernet's padding
  EXPECT_TRUE(checksums_right(frame));
}

TEST(FrameChecksums, ClaimNothingTheyCannotVerify) {
  Frame other = udp_frame(5);
  store_be16(&other[12], 0x86dd);
  EXPECT_FALSE(checksums_right(other));  // not IPv4

  Frame cut = udp_frame(5);
  cut.pop_back();
  EXPECT_FALSE(checksums_right(cut));

  Frame fragment = udp_frame(5);
  fragment[kIp + 6] = 0x20;  // more fragments
  fill_checksums(fragment);
  EXPECT_EQ(load_be16(&fragment[kTransport + 6]), 0);  // only the header's was filled in
  EXPECT_EQ(plain_sum(&fragment[kIp], 20, 0), 0xffff);
  EXPECT_FALSE(checksums_right(fragment));

  Frame icmp = udp_frame(5);
  icmp[kIp + 9] = 1;
  fill_checksums(icmp);
  EXPECT_TRUE(checksums_right(icmp));  // the only one that the flag speaks of is right
}

TEST(FrameChecksums, LeaveWhatIsNoIpv4Untouched) {
  for (std::size_t size = 0; size < 34; ++size) {
    Frame frame = udp_frame();
    frame.resize(size);
    const Frame before = frame;
    fill_checksums(frame);
    EXPECT_EQ(frame, before) << size;
    EXPECT_FALSE(checksums_right(frame)) << size;
  }
}

// Under the address sanitizer each frame has its own allocation: a byte too far is seen.
TEST(FrameChecksums, StayInsideFramesOfAnyBytes) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  int right = 0;
  for (int round = 0; round < 20'000; ++round) {
    Frame frame = round % 2 != 0 ? udp_frame(random() % 40) : tcp_frame(random() % 40);
    for (int i = 0; i < 3; ++i)
      frame[random() % frame.size()] = static_cast<std::uint8_t>(random());
    frame.resize(random() % (frame.size() + 1));
    frame.shrink_to_fit();
    fill_checksums(frame);
    right += checksums_right(frame) ? 1 : 0;
  }
  EXPECT_GT(right, 0);
}

}  // namespace
}  // namespace gdr::rnic
