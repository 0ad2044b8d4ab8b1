// Which IPv4 identification a packet had, from its ICRC alone.
//
// A CRC is linear: two packets that differ in their identification only have ICRCs that differ by
// the CRC of that difference D with zeros around it, D * x^32 * x^(8 * bytes behind) modulo P. P is
// irreducible, so x has an inverse, and a multiplication by its power gives D back; 32 bits in
// general, of which an identification has but the highest 16.
#include <array>

#include "wire/crc.h"
#include "wire/icrc.h"
#include "wire/opcode.h"

namespace gdr::wire {
namespace {

// All values below are reflected registers of 32 bits, as the state of a CRC is.
constexpr std::uint32_t kOne = 0x8000'0000;

constexpr std::uint32_t divided_by_x8(std::uint32_t value) {
  for (int bit = 0; bit < 8; ++bit) {
    // If x^0 is set, adding P clears it; P's own x^32 then becomes x^31.
    value = (value & kOne) != 0 ? (value ^ kReflectedPolynomial) << 1 | 1 : value << 1;
  }
  return value;
}

// For the tables; Horner's scheme, from the highest coefficient of `a` (its lowest bit) down.
consteval std::uint32_t times_slowly(std::uint32_t a, std::uint32_t b) {
  std::uint32_t product = 0;
  for (int bit = 0; bit < 32; ++bit) {
    product = product >> 1 ^ ((product & 1) != 0 ? kReflectedPolynomial : 0);
    if ((a >> bit & 1) != 0) product ^= b;
  }
  return product;
}

// The whole product first, four bits of `a` at a time, then its upper coefficients brought down, as
// a CRC does with four bytes.
std::uint32_t times(std::uint32_t a, std::uint32_t b) {
  std::uint64_t multiples[16] = {0, b};
  for (unsigned i = 2; i < 16; i += 2) {
    multiples[i] = multiples[i / 2] << 1;
    multiples[i + 1] = multiples[i] ^ b;
  }
  std::uint64_t product = 0;
  for (unsigned bit = 0; bit < 32; bit += 4) product ^= multiples[a >> bit & 15] << bit;
  product <<= 1;  // 63 coefficients in a reflected register of 64
  constexpr std::byte kZeros[4] = {};
  return crc_table(static_cast<std::uint32_t>(product), kZeros, sizeof kZeros) ^
         static_cast<std::uint32_t>(product >> 32);
}

// [i]: x^-8i in the one, x^-(8 * 256 * i) in the other.
using Powers = std::array<std::uint32_t, 256>;
constexpr Powers kFine = [] {
  Powers powers{kOne};
  for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = divided_by_x8(powers[i - 1]);
  return powers;
}();
consteval Powers make_coarse() {
  const std::uint32_t step = divided_by_x8(kFine.back());
  Powers powers{kOne};
  for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = times_slowly(powers[i - 1], step);
  return powers;
}
constexpr Powers kCoarse = make_coarse();
static_assert(times_x8(kFine[1]) == kOne && times_x8(kCoarse[1]) == kFine[255]);

// Behind the identification in the IPv4 header, the UDP header, and the 32 bits that the state of a
// CRC is ahead.
constexpr std::size_t kBehind = 14 + 8 + 4;
constexpr std::size_t kMostUdpPayload = 65535 - 20 - 8;

}  // namespace

std::optional<std::uint16_t> solve_identification(std::uint32_t computed, std::uint32_t received,
                                                  std::size_t udp_payload) {
  if (udp_payload < kIcrcBytes || udp_payload > kMostUdpPayload) return std::nullopt;
  const std::size_t bytes = kBehind + udp_payload - kIcrcBytes;
  const std::uint32_t inverse = times(kFine[bytes & 255], kCoarse[bytes >> 8]);
  const std::uint32_t difference = times(computed ^ received, inverse);
  if ((difference & 0xffff) != 0) return std::nullopt;
  // In the register the byte that was first on the wire, the identification's higher, is the lower.
  return static_cast<std::uint16_t>((difference >> 16 & 0xff) << 8 | difference >> 24);
}

}  // namespace gdr::wire
