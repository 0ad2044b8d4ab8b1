// Activity: what the threads of a process are at, as /proc tells it. Cold.
#pragma once

#include <atomic>

#include "base/clock.h"

namespace gdr::peers {

enum class Activity {
  kRuns,     // one of them runs, or waits for the processor or for a page
  kIdle,     // each sleeps or is stopped: none is in a copy
  kStopped,  // each is stopped, by a signal or a debugger, where the kernel gives back to the
             // program
};

// `proc_pid` as the mount of /proc calls it; `except`: a thread that is not counted. kRuns if it
// cannot be found out.
Activity activity_of(int proc_pid, int except = 0);

// Asked again and again while somebody waits for that process; looks once a millisecond.
class ActivityWatch {
 public:
  explicit ActivityWatch(int proc_pid) : proc_pid_(proc_pid) {}

  bool is_stopped() { return look() == Activity::kStopped; }
  // Asks the kernel now.
  bool is_stopped_now();
  // For how long each look has found it so.
  Nanoseconds idle_for() const;
  Nanoseconds stopped_for() const;

  // Looks, but at the calling thread.
  Activity look();

 private:
  const int proc_pid_;
  std::atomic<Nanoseconds> looked_at_{0};
  std::atomic<Activity> found_{Activity::kRuns};
  std::atomic<Nanoseconds> idle_since_{0}, stopped_since_{0};  // 0: it is not
};

}  // namespace gdr::peers
