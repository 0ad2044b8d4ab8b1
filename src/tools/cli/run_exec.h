// The last step of `gdr run`: this process becomes the program, so that its exit status, its
// signals and its terminal are its own and nothing has to be passed on.
//
//   const Error error = replace_process(plan, "/usr/bin/ibv_devinfo", {"ibv_devinfo", "-v"});
//   return exit_status_for(error.code);  // only reached if it failed
#pragma once

#include <string>
#include <vector>

#include "cli/run_plan.h"

namespace gdr::cli {

// What shells return for a command that does not exist, or may not be executed.
constexpr int kNotExecutable = 126;
constexpr int kNotFound = 127;

int exit_status_for(int error_code);

// Returns only if it failed.
Error replace_process(const Plan& plan, const std::string& path,
                      const std::vector<std::string>& command);

}  // namespace gdr::cli
