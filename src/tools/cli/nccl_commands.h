// The subcommands of `gdr nccl`, each defined in the file of its name.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/subcommands.h"

namespace gdr::cli {

void add_nccl_check(CLI::App& nccl, Action& chosen);
void add_nccl_run(CLI::App& nccl, Action& chosen, const std::vector<std::string>& command);

}  // namespace gdr::cli
