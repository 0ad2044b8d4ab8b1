// A program that is started, waited for and passed through: its exit status, the signals that are
// meant for it, and, where asked to, what it prints.
//
//   ChildOptions options;
//   options.path = "/usr/bin/python3";
//   options.command = {"python3", "train.py"};
//   Result<int> status = run_child(options);  // 128 + N where signal N ended it, as in a shell
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/given_variables.h"

namespace gdr::cli {

struct ChildOptions {
  std::string path;
  std::vector<std::string> command;
  Variables variables;
  // If set, standard output and error pass through this process, which forwards every byte and
  // shows whole lines to this function (a very long line only in part).
  std::function<void(std::string_view)> on_output;
  // If set, called with its process ID now and then while it runs: soon after it starts, later five
  // times a second.
  std::function<void(pid_t)> on_tick;
  // Its standard output goes to standard error, since ours is for something else.
  bool output_to_errors = false;
};

// The error is that of starting it.
Result<int> run_child(const ChildOptions& options);

}  // namespace gdr::cli
