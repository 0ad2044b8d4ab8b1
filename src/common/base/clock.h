// Monotonic time in nanoseconds. Protocol logic takes a Nanoseconds argument and never asks itself.
#pragma once

#include <time.h>

#include <cstdint>

namespace gdr {

using Nanoseconds = std::uint64_t;

constexpr Nanoseconds kMicrosecond = 1'000;
constexpr Nanoseconds kMillisecond = 1'000'000;
constexpr Nanoseconds kSecond = 1'000'000'000;

inline Nanoseconds now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<Nanoseconds>(t.tv_sec) * kSecond + static_cast<Nanoseconds>(t.tv_nsec);
}

// Behind now() by a scheduler tick (1 to 10 ms) at most, for a fifth of its price.
inline Nanoseconds coarse_now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
  return static_cast<Nanoseconds>(t.tv_sec) * kSecond + static_cast<Nanoseconds>(t.tv_nsec);
}

}  // namespace gdr
