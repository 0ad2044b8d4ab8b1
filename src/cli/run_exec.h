// The last step of `gdr run`: this process becomes the program, so that its exit status, its
// signals and its terminal are its own and nothing has to be passed on.
#pragma once

#include <string>
#include <vector>

#include "cli/run_plan.h"

namespace gdr::cli {

// What shells return for a command that does not exist, or may not be executed.
constexpr int kNotExecutable = 126;
constexpr int kNotFound = 127;

int exit_status_for(int error_code);

// The folder of the stand-ins: ../lib/gdrkit beside the program's own.
Result<std::string> stand_in_folder();

// Asks the stand-ins that `plan` uses whether they can be used as configured: ENOENT where one is
// missing, EINVAL with its own words where an environment variable of it is wrong.
Result<void> check_stand_ins(const Plan& plan, const std::string& folder);

// Returns only if it failed.
Error replace_process(const Plan& plan, const std::string& path,
                      const std::vector<std::string>& command);

}  // namespace gdr::cli
