// The clock that everything is timed by: the processor's invariant counter, which costs half of
// what the system's clock does, is the same on all processors and keeps its pace when they change
// theirs. How long its ticks last is measured, at the start and again at the end of a run.
//
//   const TickClock clock = TickClock::calibrate();
//   const Ticks start = ticks();
//   post_and_poll();
//   const double nanoseconds = clock.nanoseconds(ticks() - start);
//   report.clock = clock.report();
//
// Where the counter is not invariant, and on processors other than x86-64, a tick is a nanosecond
// of CLOCK_MONOTONIC_RAW.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "perf/report.h"

namespace gdr::perf {

using Ticks = std::uint64_t;

// The system's clock that the counter is held against: no time service slews it.
Nanoseconds raw_now();

#if defined(__x86_64__)
// CPUID 0x80000007 EDX bit 8.
extern const bool kInvariantCounter;

// Hot. Unfenced: the processor may read the counter among instructions beside it in the program,
// earlier or later by what it holds in flight, some tens of nanoseconds. What is timed between two
// readings is a call into the NIC's library, whose doorbell is behind a barrier of its own, and a
// loop that polls and whose end the processor learns from the completion, so both readings move
// alike. A fence would take longer than the error, and would hold up the very call that follows.
inline Ticks ticks() { return kInvariantCounter ? __builtin_ia32_rdtsc() : raw_now(); }
#else
constexpr bool kInvariantCounter = false;
inline Ticks ticks() { return raw_now(); }
#endif

class TickClock {
 public:
  // The counter and the system's clock, read at the same moment.
  struct Moment {
    Ticks ticks = 0;
    Nanoseconds nanoseconds = 0;
  };
  // The attempt, of several, whose two readings are the closest.
  static Moment moment();

  // Sleeps that long. Moments are some ten nanoseconds apart at worst: over 20 ms, 1 in 10^6.
  static TickClock calibrate(Nanoseconds over = 20 * kMillisecond);
  // `last` is later than `first`.
  TickClock(const Moment& first, const Moment& last);

  double nanoseconds(Ticks interval) const {
    return static_cast<double>(interval) * nanoseconds_per_tick_;
  }
  double nanoseconds_per_tick() const { return nanoseconds_per_tick_; }
  double ticks_per_second() const { return 1e9 / nanoseconds_per_tick_; }
  // For loops that end at a time. A longer interval than the counter can hold is its largest.
  Ticks ticks_in(Nanoseconds interval) const;

  // At the end of a run: how far the ticks of all of it lasted longer (below zero) or shorter than
  // those of the calibration.
  ClockReport report() const { return report(moment()); }
  ClockReport report(const Moment& end) const;

 private:
  Moment first_;
  double nanoseconds_per_tick_ = 1;
};

}  // namespace gdr::perf
