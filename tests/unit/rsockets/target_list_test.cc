#include "rsockets/target_list.h"

#include <gtest/gtest.h>

#include <cstring>

namespace gdr::rsockets {
namespace {

class RsocketTargets : public testing::Test {
 protected:
  void write_target(std::uint32_t entry, RemoteRange range) {
    const auto bytes = encode_target(range, false);
    std::memcpy(memory_ + entry * kTargetBytes, bytes.data(), bytes.size());
  }
  void write_mapping(std::uint32_t entry, std::uint64_t offset, RemoteRange range) {
    const auto bytes = encode_mapping(offset, range, false);
    std::memcpy(memory_ + TargetList::kBytes + entry * kMappingBytes, bytes.data(), bytes.size());
  }
  alignas(8) std::uint8_t memory_[TargetList::kBytes + 2 * kMappingBytes]{};
  TargetList targets_{memory_};
};

TEST_F(RsocketTargets, AreUsedUpInTurnBeginningWithTheSecondEntry) {
  targets_.begin({1000, 7, 100});
  write_target(1, {5000, 8, 50});
  EXPECT_EQ(targets_.take(60).address, 1000U);
  EXPECT_EQ(targets_.room(), 40U);
  const RemoteRange rest = targets_.take(40);
  EXPECT_EQ(rest.address, 1060U);
  EXPECT_EQ(rest.key, 7U);
  EXPECT_EQ(targets_.room(), 50U);
  EXPECT_EQ(targets_.take(50).key, 8U);
  EXPECT_EQ(targets_.room(), 0U);
  write_target(0, {9000, 9, 10});
  EXPECT_EQ(targets_.room(), 10U);
}

TEST_F(RsocketTargets, GiveNoRoomTwiceForWhatThePeerWroteOnce) {
  targets_.begin({1000, 7, 1});
  write_target(1, {5000, 8, 1});
  targets_.take(1);
  EXPECT_EQ(targets_.room(), 1U);
  targets_.take(1);
  write_target(0, {5000, 8, 1});
  EXPECT_EQ(targets_.room(), 1U);
  targets_.take(1);
  EXPECT_EQ(targets_.room(), 0U);
}

TEST_F(RsocketTargets, NeverGiveMoreThanTheirLength) {
  targets_.begin({~std::uint64_t{0}, 7, 4});
  EXPECT_EQ(targets_.take(100).length, 4U);
  EXPECT_EQ(targets_.room(), 0U);
}

TEST_F(RsocketTargets, FindTheRestOfAMapping) {
  write_mapping(1, 0x10000, {777000, 5, 4096});
  const auto found = targets_.mapped_at(0x10000 + 96);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->address, 777096U);
  EXPECT_EQ(found->length, 4000U);
  EXPECT_FALSE(targets_.mapped_at(0x10000 + 4096));
  EXPECT_FALSE(targets_.mapped_at(0xFFFF));
}

TEST_F(RsocketTargets, FindAMappingThatEndsWhereOffsetsWrap) {
  write_mapping(0, ~std::uint64_t{0} - 9, {1000, 5, 100});
  const auto found = targets_.mapped_at(~std::uint64_t{0});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->length, 91U);
  EXPECT_FALSE(targets_.mapped_at(0));
}

TEST(RsocketTargetsWithoutMemory, GiveNoRoom) {
  TargetList none;
  EXPECT_EQ(none.room(), 0U);
  EXPECT_FALSE(none.mapped_at(0));
}

}  // namespace
}  // namespace gdr::rsockets
