// Asks Slurm which process management interfaces it offers to MPIs.
//
//   const std::set<std::string> offered = slurm_interfaces(machine);
//   if (offered.contains("pmix")) ...
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "mpi/judge.h"
#include "mpi/machine.h"

namespace gdr::mpi {

// The text of `srun --mpi=list`, of Slurm 14 to 25. Empty: it is none.
std::set<std::string> read_slurm_interfaces(std::string_view text);

// Empty: there is no srun, or it does not say.
std::set<std::string> slurm_interfaces(const Machine& machine);

// A note where srun offers nothing that this MPI takes.
void compare_with_slurm(const std::set<std::string>& offered, Judgement& judgement);

}  // namespace gdr::mpi
