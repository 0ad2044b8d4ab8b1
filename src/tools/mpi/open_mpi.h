// Asks ompi_info of Open MPI 1.7 to 5 and of its offspring (HPC-X, IBM Spectrum MPI).
//
//   Installation one = ...;
//   ask_open_mpi(machine, one);
#pragma once

#include <string_view>

#include "mpi/installation.h"
#include "mpi/machine.h"

namespace gdr::mpi {

// The text of `ompi_info --parsable --all`, or, as people send them, of ompi_info with and without
// --all for readers. False: it is neither.
bool read_ompi_info(std::string_view text, Installation& one);

void ask_open_mpi(const Machine& machine, Installation& one);

// The folder of components: Debian's Open MPI has one with a name of its own.
std::string component_folder(const Machine& machine, const Installation& one);

}  // namespace gdr::mpi
