// The clock of the device, in which completions are stamped and ibv_query_rt_values_ex answers: the
// host's monotonic one, so that the stamps of all processes compare.
#pragma once

#include <time.h>

#include <cstdint>

#include "base/clock.h"

namespace gdr::rnic {

constexpr std::uint64_t kDeviceClockKilohertz = 1'000'000;

inline std::uint64_t device_clock() { return now(); }

// Nanoseconds since 1970.
inline std::uint64_t wall_clock() {
  timespec t{};
  clock_gettime(CLOCK_REALTIME, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * kSecond + static_cast<std::uint64_t>(t.tv_nsec);
}

}  // namespace gdr::rnic
