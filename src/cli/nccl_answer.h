// What `gdr nccl check` and `gdr nccl run` have in common: reading logs, and printing the answer.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "nccl/judge.h"

namespace gdr::cli {

// Everything that `fd` gives, in pieces, to `sink`.
Result<void> read_whole(int fd, const std::function<void(std::string_view)>& sink);

// --expect; what it returns is set when the command line has been read.
void add_expectation(CLI::App& command, nccl::Expectation& expectation);

// False where `file` cannot be written to.
bool print_answer(const nccl::Report& report, bool all, std::FILE* file);

}  // namespace gdr::cli
