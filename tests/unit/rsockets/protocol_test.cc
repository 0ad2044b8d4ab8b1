#include "rsockets/protocol.h"

#include <gtest/gtest.h>

#include <vector>

namespace gdr::rsockets {
namespace {

ConnectionData some_data() {
  ConnectionData data;
  data.takes_mappings = true;
  data.credits = 0x0180;
  data.mappings = 3;
  data.targets = {0x1122334455667788, 0xAABBCCDD, 2};
  data.first_buffer = {0x0102030405060708, 0x090A0B0C, 0x10000};
  return data;
}

TEST(RsocketProtocol, LaysConnectionDataOutAsVersionOneDoes) {
  const std::array<std::uint8_t, 40> expected{
      1,    2,    0x01, 0x80, 0,    0,    0,    3,     // version, flags, credits, mappings
      0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88,  // list of targets: address
      0xAA, 0xBB, 0xCC, 0xDD, 0,    0,    0,    2,     // key, entries
      1,    2,    3,    4,    5,    6,    7,    8,     // first buffer: address
      9,    10,   11,   12,   0,    1,    0,    0};    // key, length
  EXPECT_EQ(encode(some_data()), expected);
}

TEST(RsocketProtocol, ReadsConnectionDataBackThoughPadded) {
  const auto bytes = encode(some_data());
  std::vector<std::uint8_t> padded(bytes.begin(), bytes.end());
  padded.resize(196);
  const auto data = decode_connection_data(padded);
  ASSERT_TRUE(data);
  EXPECT_EQ(encode(*data), bytes);
}

TEST(RsocketProtocol, RefusesConnectionDataThatAreShortOrOfAnotherVersionOrWithoutTargets) {
  auto bytes = encode(some_data());
  EXPECT_FALSE(decode_connection_data(std::span(bytes).first(39)));
  bytes[0] = 2;
  EXPECT_FALSE(decode_connection_data(bytes));
  ConnectionData data = some_data();
  data.targets.length = 0;
  EXPECT_FALSE(decode_connection_data(encode(data)));
}

TEST(RsocketProtocol, IgnoresMappingsOfAPeerThatTakesNone) {
  ConnectionData data = some_data();
  data.takes_mappings = false;
  EXPECT_EQ(decode_connection_data(encode(data))->mappings, 0U);
}

TEST(RsocketProtocol, PutsTheOperationIntoTheUpperThreeBits) {
  EXPECT_EQ(encode({Operation::kData, 5}), 5U);
  EXPECT_EQ(encode({Operation::kTargets, 0x180}), 0x80000180U);
  EXPECT_EQ(encode({Operation::kMapping, 1}), 0xC0000001U);
  EXPECT_EQ(encode({Operation::kControl, 2}), 0xE0000002U);
  const Immediate read = decode_immediate(0xE0000002U);
  EXPECT_EQ(read.operation, Operation::kControl);
  EXPECT_EQ(read.value, 2U);
}

TEST(RsocketProtocol, SaysUpTo128MappingsExactlyAndMoreInStepsOf256) {
  for (std::uint32_t count : {0U, 1U, 128U}) {
    EXPECT_EQ(mappings_from_byte(mappings_to_byte(count)), count);
  }
  EXPECT_EQ(mappings_from_byte(mappings_to_byte(600)), 512U);
  EXPECT_EQ(mappings_from_byte(mappings_to_byte(1'000'000)), 127U * 256);
}

TEST(RsocketProtocol, WritesTargetsInThePeersByteOrder) {
  const RemoteRange range{0x0102030405060708, 0x11121314, 0x21222324};
  const std::array<std::uint8_t, 16> little{8,    7,    6,    5,    4,    3,    2,    1,
                                            0x14, 0x13, 0x12, 0x11, 0x24, 0x23, 0x22, 0x21};
  const std::array<std::uint8_t, 16> big{1,    2,    3,    4,    5,    6,    7,    8,
                                         0x11, 0x12, 0x13, 0x14, 0x21, 0x22, 0x23, 0x24};
  EXPECT_EQ(encode_target(range, false), little);
  EXPECT_EQ(encode_target(range, true), big);
}

}  // namespace
}  // namespace gdr::rsockets
