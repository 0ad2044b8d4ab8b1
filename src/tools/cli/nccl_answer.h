// What `gdr nccl check` and `gdr nccl run` have in common: what is expected, and printing the
// answer.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdio>

#include "nccl/judge.h"

namespace gdr::cli {

// --expect; what it returns is set when the command line has been read.
void add_expectation(CLI::App& command, nccl::Expectation& expectation);

// False where `file` cannot be written to.
bool print_answer(const nccl::Report& report, bool all, std::FILE* file);

}  // namespace gdr::cli
