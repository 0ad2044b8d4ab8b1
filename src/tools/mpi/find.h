// Finds the MPIs of a machine, or the one that a launcher belongs to.
//
//   std::vector<Installation> found = find_installations(machine);
//   Result<Installation> one = find_by_launcher(machine, "/opt/hpcx/ompi/bin/mpirun");
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "mpi/installation.h"
#include "mpi/machine.h"

namespace gdr::mpi {

// The one in use first, then in the order in which they are found. Each once, whatever links lead
// to it.
std::vector<Installation> find_installations(const Machine& machine);

// `launcher`: a path, or a name that is looked for in PATH. The error's line begins with it.
Result<Installation> find_by_launcher(const Machine& machine, const std::string& launcher);

// The first of this name in PATH; empty: none.
std::string find_in_path(const Machine& machine, const std::string& name);

// Finds the place of a program's installation: prefix, folder of programs and origin. The family
// stays unknown.
Installation identify_place(const Machine& machine, const std::string& program);

// The installation that a program of it belongs to: mpirun, mpiexec or mpicc. It is not asked
// further than is needed to know its family, and not at all where somebody else could change it.
Installation identify(const Machine& machine, const std::string& program);

}  // namespace gdr::mpi
