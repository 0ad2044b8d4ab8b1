// What main() does, whichever subcommands the program has.
//
//   int main(int argc, char** argv) { return enter(argc, argv, add_all, run_hidden); }
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/subcommands.h"

namespace gdr::cli {

// What only scripts and the build call (cli/hidden.h). The exit status; nothing: the words are for
// people's commands.
using Hidden = std::optional<int> (*)(const std::vector<std::string>& words);

// The exit status.
int enter(int argc, char** argv, const Subcommands& add, const Hidden& hidden);

}  // namespace gdr::cli
