// The command that starts the ranks: a function of its inputs alone.
//
//   LaunchWishes wishes;
//   wishes.ranks = 2;
//   Result<std::vector<std::string>> command = launch_command(mpi, wishes, {"./gdr-mpi"});
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "mpi/run/toolchain.h"

namespace gdr::mpi_run {

struct LaunchWishes {
  Launcher launcher = Launcher::kMpirun;
  int ranks = 2;
  std::vector<std::string> hosts;    // none: the launcher's own choice
  std::vector<std::string> options;  // of the launcher, as typed
  bool is_root = false;
};

// EINVAL: an option of the launcher's says what one of gdr's says.
Result<std::vector<std::string>> launch_command(const Toolchain& mpi, const LaunchWishes& wishes,
                                                const std::vector<std::string>& program);

}  // namespace gdr::mpi_run
