// The subcommands of `gdr mpi`, each defined in the file of its name.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/subcommands.h"

namespace gdr::cli {

void add_mpi_check(CLI::App& mpi, Action& chosen);
void add_mpi_run(CLI::App& mpi, Action& chosen);
// What `gdr mpi run` starts beside each rank; hidden.
void add_mpi_rank(CLI::App& program, Action& chosen);
// It starts this on two hosts to measure between their NICs; hidden.
void add_mpi_perf(CLI::App& program, Action& chosen);

}  // namespace gdr::cli
