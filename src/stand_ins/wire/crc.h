// Inside of src/stand_ins/wire: the versions of CRC-32 behind crc_versions(), and the arithmetic
// that their constants come from.
//
// A CRC is the remainder of a polynomial over GF(2) divided by P, of degree 32. "Reflected" means
// that bit i of an n-bit register is the coefficient of x^(n-1-i), so that the first bit on the
// wire, the lowest of the first byte, is the highest coefficient. The state of the CRC is a
// reflected register of 32 bits.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gdr::wire {

// The polynomial of IEEE 802.3; bit i is the coefficient of x^i (not reflected).
constexpr std::uint64_t kPolynomial = 0x1'04c1'1db7;
constexpr std::uint32_t kReflectedPolynomial = 0xedb8'8320;  // without x^32

// The state `state` becomes by eight bits of zeros, eight times x.
constexpr std::uint32_t times_x8(std::uint32_t state) {
  for (int bit = 0; bit < 8; ++bit) {
    state = state >> 1 ^ ((state & 1) != 0 ? kReflectedPolynomial : 0);
  }
  return state;
}

// Any input, any processor: 16 bytes a step out of 16 tables.
std::uint32_t crc_table(std::uint32_t state, const std::byte* bytes, std::size_t count);
std::uint32_t crc_table_32(std::uint64_t first, std::uint64_t second, std::uint64_t third,
                           std::uint64_t fourth);

#if defined(__x86_64__)
// Needs PCLMULQDQ and SSE 4.1.
std::uint32_t crc_pclmul(std::uint32_t state, const std::byte* bytes, std::size_t count);
std::uint32_t crc_pclmul_32(std::uint64_t first, std::uint64_t second, std::uint64_t third,
                            std::uint64_t fourth);
// Needs VPCLMULQDQ, AVX-512F and what crc_pclmul needs.
std::uint32_t crc_vpclmul(std::uint32_t state, const std::byte* bytes, std::size_t count);
#endif

}  // namespace gdr::wire
