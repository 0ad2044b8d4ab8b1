#include "participants/pattern.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace gdr::participants {
namespace {

using Kind = Damage::Kind;

constexpr std::uint64_t kBefore = 101;
constexpr std::uint64_t kData = 202;
constexpr std::uint64_t kPrevious = 303;
constexpr std::uint64_t kPosition = 4099;
constexpr std::size_t kGuard = 512;

// Memory as it looks before a transfer, and the data that should land in it.
struct Memory {
  explicit Memory(std::size_t length) : bytes(2 * kGuard + length), expected(length) {
    fill_pattern(kBefore, kPosition, bytes);
    fill_pattern(kData, 0, expected);
  }
  void place(std::ptrdiff_t displacement = 0, std::size_t cut = 0) {
    std::copy(expected.begin(), expected.end() - static_cast<std::ptrdiff_t>(cut),
              bytes.begin() + kGuard + displacement);
  }
  Damage look() const { return examine({bytes, kGuard, expected, kBefore, kPosition, kPrevious}); }
  std::vector<std::byte> bytes;
  std::vector<std::byte> expected;
};

const std::size_t kLengths[] = {1, 2, 3, 7, 8, 9, 63, 64, 65, 4097};

TEST(Pattern, DoesNotDependOnWhereAFillStarts) {
  std::vector<std::byte> whole(100);
  fill_pattern(7, 0, whole);
  for (std::size_t start : {1u, 7u, 8u, 9u}) {
    std::vector<std::byte> part(50);
    fill_pattern(7, start, part);
    EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + static_cast<long>(start)));
    EXPECT_EQ(pattern_byte(7, start), whole[start]);
  }
}

TEST(Pattern, DiffersBetweenSeedsAndPositions) {
  std::vector<std::byte> a(4096), b(4096), c(4096);
  fill_pattern(1, 0, a);
  fill_pattern(2, 0, b);
  fill_pattern(1, 64, c);
  EXPECT_NE(a, b);
  EXPECT_NE(a, c);
}

TEST(Examine, FindsDataIntactAtEveryLength) {
  for (std::size_t length : kLengths) {
    Memory memory(length);
    memory.place();
    EXPECT_EQ(memory.look().kind, Kind::kIntact) << length;
  }
}

TEST(Examine, FindsMemoryUnchangedAtEveryLength) {
  for (std::size_t length : kLengths) {
    EXPECT_EQ(Memory(length).look().kind, Kind::kUnchanged) << length;
  }
}

TEST(Examine, FindsByHowMuchDataIsDisplaced) {
  for (std::size_t length : kLengths) {
    for (std::ptrdiff_t by : {-256, -1, 1, 64, 300}) {
      if (static_cast<std::size_t>(std::abs(by)) + length > kGuard + length) continue;
      Memory memory(length);
      memory.place(by);
      const Damage found = memory.look();
      EXPECT_EQ(found.kind, Kind::kDisplaced) << length << " by " << by;
      EXPECT_EQ(found.displacement, by) << length;
    }
  }
}

TEST(Examine, FindsADisplacedBlockThatRunsOutOfTheWindow) {
  Memory memory(4097);
  std::copy(memory.expected.begin(), memory.expected.begin() + 400, memory.bytes.end() - 400);
  const Damage found = memory.look();
  EXPECT_EQ(found.kind, Kind::kDisplaced);
  EXPECT_EQ(found.displacement, 4097 + 512 - 400);
}

TEST(Examine, FindsOneFlippedBit) {
  Memory memory(65);
  memory.place();
  memory.bytes[kGuard + 17] ^= std::byte{0x08};
  const Damage found = memory.look();
  EXPECT_EQ(found.kind, Kind::kBitFlipped);
  EXPECT_EQ(found.offset, 17u);
  EXPECT_EQ(found.bit, 3u);
  EXPECT_EQ(describe(found), "one bit flipped: bit 3 of byte 17 of 65");
}

TEST(Examine, FindsHowMuchOfTheTailIsMissing) {
  Memory memory(4097);
  memory.place(0, 1);
  Damage found = memory.look();
  EXPECT_EQ(found.kind, Kind::kTailMissing);
  EXPECT_EQ(found.count, 1u);
  Memory longer(4097);
  longer.place(0, 100);
  found = longer.look();
  EXPECT_EQ(found.kind, Kind::kTailMissing);
  EXPECT_EQ(found.count, 100u);
}

TEST(Examine, FindsAMissingPartInTheMiddle) {
  Memory memory(4097);
  std::vector<std::byte> old(memory.bytes.begin() + kGuard + 64,
                             memory.bytes.begin() + kGuard + 128);
  memory.place();
  std::copy(old.begin(), old.end(), memory.bytes.begin() + kGuard + 64);
  const Damage found = memory.look();
  EXPECT_EQ(found.kind, Kind::kPartMissing);
  EXPECT_EQ(found.offset, 64u);
  EXPECT_EQ(found.count, 64u);
}

TEST(Examine, FindsTheSourcesEarlierContent) {
  Memory memory(65);
  fill_pattern(kPrevious, 0, std::span(memory.bytes).subspan(kGuard, 65));
  EXPECT_EQ(memory.look().kind, Kind::kStale);
}

TEST(Examine, CountsCorruptedBytes) {
  Memory memory(65);
  memory.place();
  memory.bytes[kGuard + 3] ^= std::byte{0xff};
  memory.bytes[kGuard + 9] ^= std::byte{0xff};
  const Damage found = memory.look();
  EXPECT_EQ(found.kind, Kind::kCorrupted);
  EXPECT_EQ(found.count, 2u);
  EXPECT_EQ(found.offset, 3u);
}

TEST(Examine, SeesEitherGuardOverwrittenToItsLastByte) {
  for (std::size_t at : {std::size_t{0}, kGuard - 1}) {
    Memory memory(65);
    memory.place();
    memory.bytes[at] ^= std::byte{1};
    EXPECT_EQ(memory.look().kind, Kind::kGuardOverwritten);
    EXPECT_EQ(memory.look().guard_before, 1u);
  }
  for (std::size_t at : {kGuard + 65, 2 * kGuard + 64}) {
    Memory memory(65);
    memory.place();
    memory.bytes[at] ^= std::byte{1};
    EXPECT_EQ(memory.look().guard_behind, 1u);
    EXPECT_EQ(describe(memory.look()), "guard overwritten: 1 byte behind the data");
  }
}

TEST(Examine, ReportsAGuardBesideWrongData) {
  Memory memory(65);
  memory.place();
  memory.bytes[kGuard + 17] ^= std::byte{0x08};
  memory.bytes[0] ^= std::byte{1};
  EXPECT_EQ(describe(memory.look()),
            "one bit flipped: bit 3 of byte 17 of 65; guard overwritten: 1 byte before the data");
}

}  // namespace
}  // namespace gdr::participants
