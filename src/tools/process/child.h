// A child process whose one output is read until it ends, for a bounded time and to a bounded size.
//
//   ChildEnd end = read_child(pid, std::move(output), 10 * kSecond, 1 << 20);
#pragma once

#include <sys/types.h>

#include <string>

#include "base/clock.h"
#include "base/unique_fd.h"

namespace gdr::process {

struct ChildEnd {
  std::string output;      // the first of it, as much as was allowed
  bool timed_out = false;  // it was killed, with the process group that it leads
  int status = 0;          // of waitpid
};

// Returns once the child is reaped: a process that it left behind may keep the output open. What
// has not ended at `limit` is killed, whatever it writes meanwhile.
ChildEnd read_child(pid_t pid, UniqueFd output, Nanoseconds limit, std::size_t most);

// "exit status 3", "signal 11 (Segmentation fault)"
std::string status_text(int status);

}  // namespace gdr::process
