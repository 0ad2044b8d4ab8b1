// What a load may be, wherever it comes from: a command line or the other side.
//
//   if (Result<void> right = check_load(load, largest); !right) return right.error();
#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "perf/messages.h"

namespace gdr::perf {

constexpr std::uint32_t kMostPorts = 16;
constexpr std::uint32_t kMostQueuePairs = 4096;
constexpr std::uint32_t kMostThreads = 64;
constexpr std::uint32_t kMostDepth = 8192;
constexpr std::uint64_t kLargestSize = std::uint64_t{1} << 30;

// EINVAL: values that contradict each other, or that nothing has, by the names that the command
// line has for them, and what to do.
Result<void> check_load(const Load& load, std::uint64_t largest);
Result<void> check_timing(const Timing& timing);
// The least time that a row takes; 0 if it is limited by messages, whose time nobody knows.
Nanoseconds least_time(const Timing& timing);
// "30 s", "90 min", "2 h 30 min"
std::string text_of_time(Nanoseconds time);

}  // namespace gdr::perf
