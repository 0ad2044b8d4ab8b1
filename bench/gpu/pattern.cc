#include "pattern.h"

namespace gdr::bench {
namespace {

std::uint64_t word(std::uint64_t place, std::uint64_t seed) {
  return ((seed << 40) + place) * 0x9e3779b97f4a7c15;
}

}  // namespace

void write_pattern(void* to, std::size_t bytes, std::uint64_t first, std::uint64_t seed) {
  auto* words = static_cast<std::uint64_t*>(to);
  for (std::size_t i = 0; i < bytes / 8; ++i) words[i] = word(first + i, seed);
}

std::uint64_t find_wrong(const void* from, std::size_t bytes, std::uint64_t first,
                         std::uint64_t seed) {
  const auto* words = static_cast<const std::uint64_t*>(from);
  // Without a way out, so that it is vectorized.
  std::uint64_t differences = 0;
  for (std::size_t i = 0; i < bytes / 8; ++i) differences |= words[i] ^ word(first + i, seed);
  if (differences == 0) return kAllRight;
  std::size_t i = 0;
  while (words[i] == word(first + i, seed)) ++i;
  return first + i;
}

}  // namespace gdr::bench
