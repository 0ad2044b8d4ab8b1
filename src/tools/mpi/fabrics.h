// The communication libraries under an MPI: which UCX and which libfabric it loads, and what those
// can do with GPU memory. A host may have several of each.
#pragma once

#include <string>
#include <string_view>

#include "mpi/installation.h"
#include "mpi/machine.h"

namespace gdr::mpi {

// The texts of `ucx_info -v` and `ucx_info -d`. On a host without a GPU the latter says nothing of
// CUDA: UCX leaves out what it finds no device for.
void read_ucx_version(std::string_view text, Ucx& ucx);
void read_ucx_devices(std::string_view text, Ucx& ucx);

// The texts of `fi_info --version`, `fi_info -l` and `fi_info -e`.
void read_fi_version(std::string_view text, Ofi& ofi);
void read_fi_providers(std::string_view text, Ofi& ofi);
void read_fi_variables(std::string_view text, Ofi& ofi);

// Fills in `ucx` and `ofi` of an installation that has been asked.
void find_fabrics(const Machine& machine, Installation& one);

}  // namespace gdr::mpi
