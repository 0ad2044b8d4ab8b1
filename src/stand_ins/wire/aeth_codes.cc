#include "wire/aeth_codes.h"

#include <algorithm>
#include <bit>
#include <iterator>

namespace gdr::wire {
namespace {

// In units of 10 microseconds.
constexpr std::uint32_t kWaits[32] = {65536, 1,    2,    3,     4,     6,     8,     12,
                                      16,    24,   32,   48,    64,    96,    128,   192,
                                      256,   384,  512,  768,   1024,  1536,  2048,  3072,
                                      4096,  6144, 8192, 12288, 16384, 24576, 32768, 49152};

constexpr std::uint16_t kCredits[31] = {
    0,   1,   2,   3,   4,    6,    8,    12,   16,   24,   32,   48,    64,    96,    128,  192,
    256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768};

}  // namespace

Nanoseconds rnr_wait(std::uint8_t code) { return kWaits[code & 31] * 10 * kMicrosecond; }

std::uint8_t credit_code(std::uint32_t receives) {
  if (receives < 2) return static_cast<std::uint8_t>(receives);
  // Two codes for each power of two: itself, and one and a half times it.
  const auto power = static_cast<std::uint32_t>(std::bit_width(receives)) - 1;
  const std::uint32_t code = 2 * power + (receives >> (power - 1) & 1);
  return static_cast<std::uint8_t>(std::min<std::uint32_t>(code, std::size(kCredits) - 1));
}

std::uint32_t credits_of(std::uint8_t code) { return kCredits[std::min<int>(code & 31, 30)]; }

}  // namespace gdr::wire
