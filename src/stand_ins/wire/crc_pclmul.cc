#if defined(__x86_64__)

#include "wire/crc_fold.h"

namespace gdr::wire {
namespace {

// 4 to 15 bytes as a register whose first bytes they are; zeros behind.
GDR_CRC_INLINE __m128i load_short(const std::byte* bytes, std::size_t count) {
  std::uint64_t lower, upper;
  if (count >= 8) {
    std::memcpy(&lower, bytes, sizeof lower);
    std::memcpy(&upper, bytes + count - 8, sizeof upper);
    upper = upper >> 8 * (15 - count) >> 8;  // what both have; all of it when there are 8 bytes
  } else {
    std::uint32_t first, last;
    std::memcpy(&first, bytes, sizeof first);
    std::memcpy(&last, bytes + count - 4, sizeof last);
    lower = first | std::uint64_t{last} << 8 * (count - 4);
    upper = 0;
  }
  return keys(lower, upper);
}

__attribute__((target("pclmul,sse4.1"))) std::uint32_t fold_long(__m128i first,
                                                                 const std::byte* bytes,
                                                                 std::size_t count) {
  __m128i second = load_16(bytes + 16);
  __m128i third = load_16(bytes + 32);
  __m128i fourth = load_16(bytes + 48);
  const __m128i key = keys_for<512>();
  for (bytes += 64, count -= 64; count >= 64; bytes += 64, count -= 64) {
    first = fold(first, key, load_16(bytes));
    second = fold(second, key, load_16(bytes + 16));
    third = fold(third, key, load_16(bytes + 32));
    fourth = fold(fourth, key, load_16(bytes + 48));
  }
  const __m128i sum = fold(first, keys_for<384>(), fold(second, keys_for<256>(), fourth));
  return finish(fold(third, keys_for<128>(), sum), bytes, count);
}

}  // namespace

__attribute__((target("pclmul,sse4.1"))) std::uint32_t crc_pclmul(std::uint32_t state,
                                                                  const std::byte* bytes,
                                                                  std::size_t count) {
  const __m128i before = _mm_cvtsi32_si128(static_cast<int>(state));
  if (count >= 16) {
    const __m128i first = _mm_xor_si128(load_16(bytes), before);
    if (count >= 128) return fold_long(first, bytes, count);
    return finish(first, bytes + 16, count - 16);
  }
  if (count < 4) return crc_table(state, bytes, count);  // shorter than the state
  const __m128i value = _mm_xor_si128(load_short(bytes, count), before);
  return remainder_of(_mm_shuffle_epi8(value, shuffle(count)));
}

__attribute__((target("pclmul,sse4.1"))) std::uint32_t crc_pclmul_32(std::uint64_t first,
                                                                     std::uint64_t second,
                                                                     std::uint64_t third,
                                                                     std::uint64_t fourth) {
  return remainder_of(fold(keys(first, second), keys_for<128>(), keys(third, fourth)));
}

}  // namespace gdr::wire

#endif
