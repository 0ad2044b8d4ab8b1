// Sentinel: tells a signal that was sent to this process alone from one that was sent to all around
// it, and so to the program as well: to a process group (by `timeout`, by a shell's `kill --
// -PGID`) or to every process of a job step (by Slurm's `scancel -s`). It is a process of its own
// in this one's group, in which such a signal arrives, too; the kernel says nothing of whom else it
// was for.
//
//   Sentinel sentinel;                                  // while signals are blocked
//   if (!sentinel.has_had(SIGUSR1)) kill(program, SIGUSR1);
#pragma once

#include <sys/types.h>

#include <array>

#include "base/clock.h"
#include "base/unique_fd.h"

namespace gdr::cli {

class Sentinel {
 public:
  // Where it cannot be started, it has had no signal.
  Sentinel();
  ~Sentinel();
  Sentinel(const Sentinel&) = delete;
  Sentinel& operator=(const Sentinel&) = delete;

  // Waits a moment for it: processes are signalled one after the other.
  bool has_had(int signal);

 private:
  static constexpr int kSignals = 65;
  void read_reports(Nanoseconds patience);

  pid_t pid_ = -1;
  UniqueFd reports_;
  std::array<Nanoseconds, kSignals> had_{};  // when; 0: never
};

}  // namespace gdr::cli
