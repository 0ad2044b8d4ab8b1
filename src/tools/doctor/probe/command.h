// A program of the machine, run for what it prints: found in PATH, without a shell, its input
// empty, bounded in time and in what is kept.
//
//   CommandAnswer answer = run_command({"ompi_info", "--parsable"}, 10 * kSecond);
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"

namespace gdr::doctor {

struct CommandAnswer {
  bool found = false;      // the program is there
  bool timed_out = false;  // it was killed
  int status = 0;          // its exit status; -1: a signal ended it
  std::string output;      // standard output and error, 1 MiB at most
};

CommandAnswer run_command(const std::vector<std::string>& words, Nanoseconds limit);

}  // namespace gdr::doctor
