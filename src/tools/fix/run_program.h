// Starting one of the system's own programs, as root would: no shell, none of the caller's PATH or
// environment, bounded in time and output.
//
//   Result<Ran> ran = run_program({"modprobe", "nvidia-peermem"});
//   if (ran && ran->status != 0) explain(ran->output);
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "fix/machine.h"

namespace gdr::fix {

// A driver that starts eight GPUs takes tens of seconds.
inline constexpr Nanoseconds kProgramLimit = 120 * kSecond;

// ENOENT: no such program in the system's folders. ETIMEDOUT: it did not end and was killed, with
// whatever it had started.
Result<Ran> run_program(const std::vector<std::string>& command, Nanoseconds limit = kProgramLimit);

// Whether the system's folders have it.
bool has_program(const std::string& name);

}  // namespace gdr::fix
