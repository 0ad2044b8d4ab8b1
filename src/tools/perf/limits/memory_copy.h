// How fast one thread of this host copies memory: what software NICs and staged transfers cannot
// exceed with one thread.
//
//   double streaming = measure_memory_copy(0, kMemoryCopyTime);
//   double of_messages = measure_memory_copy(64 << 10, kMemoryCopyTime);
#pragma once

#include <cstdint>

#include "base/clock.h"

namespace gdr::perf {

constexpr Nanoseconds kMemoryCopyTime = 200 * kMillisecond;

// Bytes a second, the best of several slices; takes `time` in all. `message` 0: between two buffers
// that no cache holds together, as far as time and memory allow. Otherwise one message of that size
// again and again, from and to the same place, as in a run whose buffers stay in the caches. 0
// where memory ran out.
double measure_memory_copy(std::uint64_t message, Nanoseconds time);

}  // namespace gdr::perf
