// The subcommands of `gdr mpi`, each defined in the file of its name.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/subcommands.h"

namespace gdr::cli {

void add_mpi_check(CLI::App& mpi, Action& chosen);

}  // namespace gdr::cli
