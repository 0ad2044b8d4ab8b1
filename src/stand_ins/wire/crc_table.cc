#include <array>
#include <cstring>

#include "wire/crc.h"

namespace gdr::wire {
namespace {

constexpr std::size_t kStep = 16;
using Table = std::array<std::uint32_t, 256>;

// kTables[n][b]: what byte b does to the state with n further bytes behind it.
constexpr std::array<Table, kStep> make_tables() {
  std::array<Table, kStep> tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) tables[0][byte] = times_x8(byte);
  for (std::size_t n = 1; n < kStep; ++n) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = tables[n - 1][byte];
      tables[n][byte] = before >> 8 ^ tables[0][before & 255];
    }
  }
  return tables;
}

constexpr std::array<Table, kStep> kTables = make_tables();
static_assert(kTables[0][0x80] == kReflectedPolynomial);

std::uint32_t load(const std::byte* from) {
  std::uint32_t word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

// Four bytes with `behind` further bytes of the same step behind them.
std::uint32_t of_word(std::uint32_t word, std::size_t behind) {
  return kTables[behind + 3][word & 255] ^ kTables[behind + 2][word >> 8 & 255] ^
         kTables[behind + 1][word >> 16 & 255] ^ kTables[behind][word >> 24];
}

}  // namespace

std::uint32_t crc_table(std::uint32_t state, const std::byte* bytes, std::size_t count) {
  for (; count >= kStep; count -= kStep, bytes += kStep) {
    state = of_word(state ^ load(bytes), 12) ^ of_word(load(bytes + 4), 8) ^
            of_word(load(bytes + 8), 4) ^ of_word(load(bytes + 12), 0);
  }
  if (count >= 8) {
    state = of_word(state ^ load(bytes), 4) ^ of_word(load(bytes + 4), 0);
    count -= 8;
    bytes += 8;
  }
  if (count >= 4) {
    state = of_word(state ^ load(bytes), 0);
    count -= 4;
    bytes += 4;
  }
  for (; count > 0; --count, ++bytes) {
    state = state >> 8 ^ kTables[0][(state ^ std::to_integer<std::uint32_t>(*bytes)) & 255];
  }
  return state;
}

std::uint32_t crc_table_32(std::uint64_t first, std::uint64_t second, std::uint64_t third,
                           std::uint64_t fourth) {
  const std::uint64_t words[] = {first, second, third, fourth};
  return crc_table(0, reinterpret_cast<const std::byte*>(words), sizeof words);
}

}  // namespace gdr::wire
