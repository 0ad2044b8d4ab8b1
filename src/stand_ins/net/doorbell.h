// Doorbell: wakes one thread that sleeps until there is something for it to do. While the thread is
// awake anyway, to ring costs no system call.
//
//   bell.ring();                                 // any thread, hot
//   bell.set_awake(true);                        // the thread: it looks again without sleeping
//   if (!bell.set_awake(false)) poll(...);       // it sleeps until the descriptor is readable
//   bell.empty();                                // it has woken
//
// Who rings says so in rung_ first, and the thread looks at that after it has said that it does not
// stay awake any more: one of the two sees the other.
#pragma once

#include <atomic>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace gdr::net {

// How long a thread looks again after its last work before it sleeps: longer than an answer takes.
constexpr Nanoseconds kStayAwake = 50 * kMicrosecond;

class Doorbell {
 public:
  Result<void> open();
  int descriptor() const { return descriptor_.get(); }
  void close() { descriptor_.reset(); }

  void ring() {
    rung_.store(true);
    if (!is_awake_.load()) write_ring();
  }

  // --- The thread's own.
  // True: it has been rung for, and must not sleep.
  bool set_awake(bool is_awake) {
    if (is_awake != is_awake_.load(std::memory_order_relaxed)) is_awake_.store(is_awake);
    return rung_.load();
  }
  // Whether it has been rung for since it was asked last.
  bool take_ring() { return rung_.load(std::memory_order_relaxed) && rung_.exchange(false); }
  // Makes the descriptor not readable.
  void empty();

 private:
  void write_ring();

  UniqueFd descriptor_;
  std::atomic<bool> is_awake_{false};
  std::atomic<bool> rung_{false};
};

}  // namespace gdr::net
