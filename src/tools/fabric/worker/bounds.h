// Bounds: until when a rail's step goes on, and what ends it before that. Patience: what a thread
// does between two looks at a completion queue.
//
//   Patience patience(/*software=*/false);
//   while (!done()) {
//     const Nanoseconds time = now();
//     if (std::optional<Error> end = end_of(time, bounds.deadline, *bounds.lost_to)) return *end;
//     patience.pause(time);
//   }
#pragma once

#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <optional>

#include "base/clock.h"
#include "base/result.h"

namespace gdr::fabric::worker {

struct Bounds {
  Nanoseconds deadline = 0;
  // Set by others while the step runs: the host that is sent to, or received from, is lost.
  const std::atomic<bool>* lost_to = nullptr;
  const std::atomic<bool>* lost_from = nullptr;
};

// Nothing: go on.
inline std::optional<Error> end_of(Nanoseconds time, Nanoseconds deadline,
                                   const std::atomic<bool>& lost) {
  if (lost.load(std::memory_order_relaxed)) return Error{ECONNRESET, "the other side was lost"};
  if (time >= deadline) return Error{ETIMEDOUT, "it took longer than a step may take"};
  return std::nullopt;
}

// A NIC answers within microseconds, and giving the processor away would be measured. The software
// NIC's processes share it: they need it more than a thread that waits for them.
class Patience {
 public:
  explicit Patience(bool software) : software_(software) {}

  // After something has moved.
  void restart() { since_ = 0; }
  void pause(Nanoseconds time) {
    if (since_ == 0) since_ = time;
    const Nanoseconds waited = time - since_;
    if (waited < kSpin && !software_) return;
    if (waited < kYield) {
      sched_yield();
    } else {
      usleep(kSleepMicroseconds);
    }
  }

 private:
  static constexpr Nanoseconds kSpin = 100 * kMicrosecond;
  static constexpr Nanoseconds kYield = kMillisecond;
  static constexpr unsigned kSleepMicroseconds = 50;

  const bool software_;
  Nanoseconds since_ = 0;  // 0: nothing was waited for yet
};

}  // namespace gdr::fabric::worker
