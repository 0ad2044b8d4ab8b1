// Starting one of the system's own programs, as root would: no shell, none of the caller's PATH or
// environment, bounded in time and output.
//
//   Result<Ran> ran = run_program({"modprobe", "nvidia-peermem"});
//   if (ran && ran->status != 0) explain(ran->output);
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "fix/machine.h"

namespace gdr::fix {

// ENOENT: no such program. ETIMEDOUT: it did not end and was killed.
Result<Ran> run_program(const std::vector<std::string>& command);

}  // namespace gdr::fix
