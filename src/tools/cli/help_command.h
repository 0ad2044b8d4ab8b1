// gdr help: the same as --help behind a subcommand.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/result.h"

namespace gdr::cli {

// {"help", "doctor", "capture"} -> {"doctor", "capture", "--help"}; other words as they are. The
// parser would take what stands behind `help` for a subcommand to run. EINVAL: no such subcommand.
Result<std::vector<std::string>> without_help(const CLI::App& program,
                                              std::vector<std::string> words);

}  // namespace gdr::cli
