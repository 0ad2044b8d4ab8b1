// The checksum of IPv4 headers, UDP and TCP (RFC 1071).
//
//   store_be16(ip + 10, internet_checksum(header));              // its field was zero
//   bool right = internet_checksum(header) == 0;                 // its field as it came
//   store_be16(udp + 6, internet_checksum(udp_bytes, pseudo));   // pseudo: a sum begun before
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/bytes.h"

namespace gdr {

// The sum of 16-bit words, not yet folded; an odd last byte counts as if a zero followed.
inline std::uint64_t sum_words(std::span<const std::byte> bytes) {
  std::uint64_t sum = 0;
  std::size_t at = 0;
  for (; at + 2 <= bytes.size(); at += 2) sum += load_be16(&bytes[at]);
  if (at < bytes.size()) sum += std::to_integer<std::uint64_t>(bytes[at]) << 8;
  return sum;
}

inline std::uint16_t internet_checksum(std::span<const std::byte> bytes, std::uint64_t begun = 0) {
  std::uint64_t sum = begun + sum_words(bytes);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

}  // namespace gdr
