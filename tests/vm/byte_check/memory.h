// Patterns: every byte depends on the seed and on its position, so that data in the wrong place is
// not taken for right.
#pragma once

#include <cstdint>
#include <string>

namespace byte_check {

inline std::uint8_t pattern(std::uint64_t seed, std::size_t position) {
  std::uint64_t x = (seed << 32) + position + 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return static_cast<std::uint8_t>(x >> 56);
}

inline void fill(std::uint8_t* memory, std::size_t bytes, std::uint64_t seed) {
  for (std::size_t i = 0; i < bytes; ++i) memory[i] = pattern(seed, i);
}

// Nothing, or where it differs first: "byte 17 of 64 is 0x0a, not 0x2f (12 differ)".
inline std::string difference(const std::uint8_t* memory, std::size_t bytes, std::uint64_t seed) {
  std::size_t first = bytes, count = 0;
  for (std::size_t i = bytes; i-- > 0;) {
    if (memory[i] == pattern(seed, i)) continue;
    first = i;
    ++count;
  }
  if (count == 0) return {};
  char text[96];
  snprintf(text, sizeof text, "byte %zu of %zu is 0x%02x, not 0x%02x (%zu differ)", first, bytes,
           memory[first], pattern(seed, first), count);
  return text;
}

}  // namespace byte_check
