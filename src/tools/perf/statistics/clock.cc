#include "perf/statistics/clock.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <cmath>
#include <limits>

namespace gdr::perf {
namespace {

constexpr int kAttempts = 32;

#if defined(__x86_64__)
bool counter_is_invariant() {
  constexpr unsigned kPowerManagement = 0x80000007;
  constexpr unsigned kInvariantBit = 1u << 8;
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(kPowerManagement, &eax, &ebx, &ecx, &edx) != 0 && (edx & kInvariantBit) != 0;
}
#endif

// How long a tick lasted between two moments; 0: no time went by.
double tick_length(const TickClock::Moment& from, const TickClock::Moment& to) {
  if (to.ticks <= from.ticks || to.nanoseconds <= from.nanoseconds) return 0;
  return static_cast<double>(to.nanoseconds - from.nanoseconds) /
         static_cast<double>(to.ticks - from.ticks);
}

}  // namespace

#if defined(__x86_64__)
const bool kInvariantCounter = counter_is_invariant();
#endif

Nanoseconds raw_now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &t);
  return static_cast<Nanoseconds>(t.tv_sec) * kSecond + static_cast<Nanoseconds>(t.tv_nsec);
}

TickClock::Moment TickClock::moment() {
  Moment best;
  Ticks least = std::numeric_limits<Ticks>::max();
  for (int i = 0; i < kAttempts; ++i) {
    const Ticks before = ticks();
    const Nanoseconds between = raw_now();
    const Ticks gap = ticks() - before;
    if (gap < least) {
      least = gap;
      best = {before + gap / 2, between};
    }
  }
  return best;
}

TickClock TickClock::calibrate(Nanoseconds over) {
  const Moment first = moment();
  timespec left{static_cast<time_t>(over / kSecond), static_cast<long>(over % kSecond)};
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
  return TickClock(first, moment());
}

TickClock::TickClock(const Moment& first, const Moment& last) : first_(first) {
  const double length = kInvariantCounter ? tick_length(first, last) : 0;
  if (length > 0) nanoseconds_per_tick_ = length;
}

Ticks TickClock::ticks_in(Nanoseconds interval) const {
  constexpr double kMost = 0x1p64;
  const double count = std::round(static_cast<double>(interval) / nanoseconds_per_tick_);
  return count < kMost ? static_cast<Ticks>(count) : std::numeric_limits<Ticks>::max();
}

ClockReport TickClock::report(const Moment& end) const {
  ClockReport report;
  report.invariant = kInvariantCounter;
  report.ticks_per_second = ticks_per_second();
  const double length = tick_length(first_, end);
  if (kInvariantCounter && length > 0) report.drift = nanoseconds_per_tick_ / length - 1;
  return report;
}

}  // namespace gdr::perf
