#if defined(__x86_64__)

#include "wire/crc_fold.h"

namespace gdr::wire {
namespace {

#define GDR_CRC_WIDE target("avx512f,vpclmulqdq,pclmul,sse4.1")
#define GDR_CRC_WIDE_INLINE __attribute__((always_inline, GDR_CRC_WIDE)) inline

template <unsigned kBits>
GDR_CRC_WIDE_INLINE __m512i wide_keys_for() {
  return _mm512_broadcast_i32x4(keys_for<kBits>());
}

GDR_CRC_WIDE_INLINE __m512i load_64(const std::byte* from) { return _mm512_loadu_si512(from); }

// Exclusive or of all three.
GDR_CRC_WIDE_INLINE __m512i sum_of(__m512i a, __m512i b, __m512i c) {
  return _mm512_ternarylogic_epi64(a, b, c, 0x96);
}

GDR_CRC_WIDE_INLINE __m512i fold(__m512i value, __m512i key, __m512i onto) {
  return sum_of(_mm512_clmulepi64_epi128(value, key, 0x00),
                _mm512_clmulepi64_epi128(value, key, 0x11), onto);
}

// The first three quarters of a register folded onto its last one.
GDR_CRC_WIDE_INLINE __m128i narrow(__m512i value) {
  const __m512i key = _mm512_inserti32x4(
      _mm512_inserti32x4(_mm512_zextsi128_si512(keys_for<384>()), keys_for<256>(), 1),
      keys_for<128>(), 2);
  const __m512i folded = fold(value, key, _mm512_maskz_mov_epi64(0xc0, value));
  const __m128i lower =
      _mm_xor_si128(_mm512_castsi512_si128(folded), _mm512_extracti32x4_epi32(folded, 1));
  const __m128i upper =
      _mm_xor_si128(_mm512_extracti32x4_epi32(folded, 2), _mm512_extracti32x4_epi32(folded, 3));
  return _mm_xor_si128(lower, upper);
}

}  // namespace

// 256 bytes a step. Below that nothing would be won, and a processor may have to wake up the upper
// halves of its registers first.
__attribute__((GDR_CRC_WIDE)) std::uint32_t crc_vpclmul(std::uint32_t state, const std::byte* bytes,
                                                        std::size_t count) {
  if (count < 256) return crc_pclmul(state, bytes, count);
  const __m128i before = _mm_cvtsi32_si128(static_cast<int>(state));
  __m512i first = _mm512_xor_si512(load_64(bytes), _mm512_zextsi128_si512(before));
  __m512i second = load_64(bytes + 64);
  __m512i third = load_64(bytes + 128);
  __m512i fourth = load_64(bytes + 192);
  const __m512i key = wide_keys_for<2048>();
  for (bytes += 256, count -= 256; count >= 256; bytes += 256, count -= 256) {
    first = fold(first, key, load_64(bytes));
    second = fold(second, key, load_64(bytes + 64));
    third = fold(third, key, load_64(bytes + 128));
    fourth = fold(fourth, key, load_64(bytes + 192));
  }
  const __m512i next = wide_keys_for<512>();
  const __m512i sum =
      fold(first, wide_keys_for<1536>(), fold(second, wide_keys_for<1024>(), fourth));
  __m512i value = fold(third, next, sum);
  for (; count >= 64; bytes += 64, count -= 64) value = fold(value, next, load_64(bytes));
  return finish(narrow(value), bytes, count);
}

}  // namespace gdr::wire

#endif
