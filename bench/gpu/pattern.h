// What the bytes of a transfer are: each word depends on its place and on the transfer's seed, so
// that bytes that are missing, misplaced or of an earlier transfer are seen.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gdr::bench {

constexpr std::uint64_t kAllRight = ~std::uint64_t{0};

// `first`: the place of the first word, counted in words. `bytes`: a multiple of 8.
void write_pattern(void* to, std::size_t bytes, std::uint64_t first, std::uint64_t seed);
// The place, in words, of the first word that is wrong, or kAllRight.
std::uint64_t find_wrong(const void* from, std::size_t bytes, std::uint64_t first,
                         std::uint64_t seed);

}  // namespace gdr::bench
