// Folders of programs in which an MPI may be: of PATH and other variables, of modules, of conda and
// Spack, and where vendors and distributions put it.
//
//   for (const Place& place : mpi_places(machine)) look_into(place.bin);
#pragma once

#include <string>
#include <vector>

#include "mpi/machine.h"

namespace gdr::mpi {

struct Place {
  std::string bin;
  std::string found_by;  // "PATH", "CONDA_PREFIX", the module's file, or the pattern that fits
  std::string module;    // what `module load` takes; empty: no module
};

// The folders of PATH come first, in its order. A folder may come more than once.
std::vector<Place> mpi_places(const Machine& machine);

// The folders that fit a pattern, in which a star stands within one name: "/opt/hpcx*/ompi/bin".
std::vector<std::string> fitting(const Machine& machine, const std::string& pattern);

}  // namespace gdr::mpi
