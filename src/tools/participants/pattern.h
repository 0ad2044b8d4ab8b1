// Patterns whose every byte depends on its position, and what a look at memory afterwards found:
// data that is unchanged, displaced, cut short or flipped is told apart, not only "different".
//
//   std::vector<std::byte> expected(n);
//   fill_pattern(seed, 0, expected);                       // what the other side sent
//   Damage found = examine({range, guard, expected, before_seed, position, old_seed});
//   if (found.kind != Damage::Kind::kIntact) puts(describe(found).c_str());
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "process/codec.h"

namespace gdr::participants {

// The byte of pattern `seed` at `position`.
std::byte pattern_byte(std::uint64_t seed, std::uint64_t position);
// bytes[i] = pattern_byte(seed, position + i)
void fill_pattern(std::uint64_t seed, std::uint64_t position, std::span<std::byte> bytes);

struct Damage {
  enum class Kind : std::uint8_t {
    kIntact,
    kUnchanged,         // the memory still holds what was there before
    kDisplaced,         // the data is there, `displacement` bytes from where it belongs
    kStale,             // the source's earlier content arrived
    kBitFlipped,        // one bit: `offset`, `bit`
    kTailMissing,       // the last `count` bytes still hold what was there before
    kPartMissing,       // `count` bytes from `offset` on still hold what was there before
    kCorrupted,         // `count` bytes differ, the first at `offset`
    kGuardOverwritten,  // the data is right, memory around it is not
  };
  Kind kind = Kind::kIntact;
  std::uint64_t length = 0;  // of the data
  std::uint64_t offset = 0;
  std::uint64_t count = 0;
  std::int64_t displacement = 0;
  std::uint8_t bit = 0;
  std::uint64_t guard_before = 0;  // bytes of the guards that changed
  std::uint64_t guard_behind = 0;
  bool data_arrived() const { return kind != Kind::kUnchanged; }
  GDR_FIELDS(kind, length, offset, count, displacement, bit, guard_before, guard_behind)
};

struct GuardedRange {
  std::span<const std::byte> bytes;     // guard, data, guard
  std::size_t guard = 0;                // length of either guard
  std::span<const std::byte> expected;  // the data
  std::uint64_t before_seed = 0;        // what all of `bytes` held before,
  std::uint64_t position = 0;           // from this position of that pattern on
  std::uint64_t previous_seed = 0;      // the source's content before this transfer; 0: none
};

Damage examine(const GuardedRange& range);

// "data displaced by +65536 bytes", "bit 3 of byte 17 flipped".
std::string describe(const Damage& damage);

}  // namespace gdr::participants
