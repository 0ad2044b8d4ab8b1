// Asks the programs of MPICH and its kin: MPICH, MVAPICH2 and its successors, Intel MPI, Cray
// MPICH.
#pragma once

#include <string_view>

#include "mpi/installation.h"
#include "mpi/machine.h"

namespace gdr::mpi {

// The text of mpichversion, of `mpiname -a`, or of `mpiexec.hydra -info`. False: it is none.
bool read_mpich_version(std::string_view text, Installation& one);

// "Intel(R) MPI Library for Linux* OS, Version 2021.11 Build 20231005 (id: 74c4a23)"
bool read_intel_version(std::string_view text, Installation& one);

void ask_mpich(const Machine& machine, Installation& one);

}  // namespace gdr::mpi
