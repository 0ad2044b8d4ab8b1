// Inside of src/stand_ins/wire: CRC-32 by carry-less multiplication, in registers of 128 bits. What
// the two versions for x86 share; see crc.h for what "reflected" means.
//
// A register V of 128 bits at distance d (in bits) before other ones counts there as V * x^d. Its
// halves are multiplied by constants of 32 bits that are x^d modulo P, so that the product fits 128
// bits again and may be added to the other register: it has been folded onto it. Only the last
// register is then truly divided by P, by Barrett's method: a multiplication by 1/P and one by P.
#pragma once

#if defined(__x86_64__)

#include <immintrin.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "wire/crc.h"

namespace gdr::wire {

// Inlined also into functions for wider instruction sets, in whose encoding they then come out.
#define GDR_CRC_INLINE __attribute__((always_inline, target("pclmul,sse4.1"))) inline

// x^n modulo P, not reflected.
constexpr std::uint64_t power_of_x(unsigned n) {
  std::uint64_t power = 1;
  for (; n > 0; --n) {
    power <<= 1;
    if ((power >> 32) != 0) power ^= kPolynomial;
  }
  return power;
}

// x^95 divided by P: 64 bits, not reflected.
constexpr std::uint64_t reciprocal() {
  std::uint64_t quotient = 0;
  std::uint64_t rest = 1;  // of x^0; each step brings in the next lower coefficient, all zeros
  for (int step = 0; step < 95; ++step) {
    rest <<= 1;
    quotient <<= 1;
    if ((rest >> 32) != 0) {
      rest ^= kPolynomial;
      quotient |= 1;
    }
  }
  return quotient;
}

constexpr std::uint64_t reflect(std::uint64_t value) {
  std::uint64_t reflected = 0;
  for (int bit = 0; bit < 64; ++bit) {
    reflected = reflected << 1 | (value & 1);
    value >>= 1;
  }
  return reflected;
}

// The factors that fold the two halves of a register over `bits` bits. The lower half is first on
// the wire, 64 bits further away. A product of reflected registers is multiplied by x, hence one
// less.
template <unsigned kBits>
constexpr std::uint64_t kLowerKey = reflect(power_of_x(kBits + 64 - 1));
template <unsigned kBits>
constexpr std::uint64_t kUpperKey = reflect(power_of_x(kBits - 1));

GDR_CRC_INLINE __m128i keys(std::uint64_t lower, std::uint64_t upper) {
  return _mm_set_epi64x(static_cast<long long>(upper), static_cast<long long>(lower));
}
template <unsigned kBits>
GDR_CRC_INLINE __m128i keys_for() {
  return keys(kLowerKey<kBits>, kUpperKey<kBits>);
}

GDR_CRC_INLINE __m128i load_16(const std::byte* from) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}

GDR_CRC_INLINE __m128i fold(__m128i value, __m128i key, __m128i onto) {
  const __m128i lower = _mm_clmulepi64_si128(value, key, 0x00);
  const __m128i upper = _mm_clmulepi64_si128(value, key, 0x11);
  return _mm_xor_si128(_mm_xor_si128(lower, upper), onto);
}

// The state after `value` alone: value * x^32 modulo P.
GDR_CRC_INLINE std::uint32_t remainder_of(__m128i value) {
  // `sum`, in the register's lower 96 bits: the lower half folded over 96 bits, the upper one over
  // 32 (it need only move). Its first 64 coefficients a multiple of P takes away; what is left of
  // the 32 behind them is the remainder.
  constexpr std::uint64_t kToLower = reflect(power_of_x(95) << 32);
  constexpr std::uint64_t kReciprocal = reflect(reciprocal());
  constexpr std::uint64_t kDivisor = reflect(kPolynomial << 31);
  const __m128i first = keys(kToLower, kReciprocal);
  const __m128i sum =
      _mm_xor_si128(_mm_clmulepi64_si128(value, first, 0x00), _mm_srli_si128(value, 8));
  const __m128i quotient = _mm_clmulepi64_si128(sum, first, 0x10);
  const __m128i multiple = _mm_clmulepi64_si128(quotient, keys(kDivisor, 0), 0x00);
  return static_cast<std::uint32_t>(_mm_extract_epi32(_mm_xor_si128(sum, multiple), 2));
}

// A shuffle that moves a register's bytes by 16 - `from` places towards its end, or by `from` - 16
// towards its beginning; zeros come in.
alignas(16) inline constexpr std::array<std::uint8_t, 48> kShuffle = [] {
  std::array<std::uint8_t, 48> shuffle{};
  shuffle.fill(0x80);  // a zero
  for (std::uint8_t byte = 0; byte < 16; ++byte) shuffle[16u + byte] = byte;
  return shuffle;
}();
GDR_CRC_INLINE __m128i shuffle(std::size_t from) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(kShuffle.data() + from));
}

// Folds `value` onto the last `count` < 16 bytes: its first `count` bytes onto the 16 that are made
// of its others and of those. Reads 16 bytes up to the end, so that many must be there.
GDR_CRC_INLINE __m128i fold_tail(__m128i value, const std::byte* bytes, std::size_t count) {
  if (count == 0) return value;
  const __m128i to_end = shuffle(count);
  const __m128i head = _mm_shuffle_epi8(value, to_end);
  const __m128i others = _mm_shuffle_epi8(value, shuffle(16 + count));
  // A shuffle's sign bits are where it puts zeros: there the others go.
  const __m128i last = _mm_blendv_epi8(load_16(bytes + count - 16), others, to_end);
  return fold(head, keys_for<128>(), last);
}

// Everything behind `value`, in steps of 16 bytes.
GDR_CRC_INLINE std::uint32_t finish(__m128i value, const std::byte* bytes, std::size_t count) {
  const __m128i key = keys_for<128>();
  for (; count >= 16; count -= 16, bytes += 16) value = fold(value, key, load_16(bytes));
  return remainder_of(fold_tail(value, bytes, count));
}

}  // namespace gdr::wire

#endif
