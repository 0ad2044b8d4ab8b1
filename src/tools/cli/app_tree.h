// The subcommands as CLI11 holds them, seen from outside: names, whom people see, and what they
// take.
//
//   const CLI::App* app = find_app(program, {"doctor", "capture"});
//   manual::Command command = describe(*app);
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "manual/command.h"

namespace gdr::cli {

// "gdr doctor capture".
std::string full_name(const CLI::App& app);

// Those for people, in the order of --help: workers, which the program starts itself, have no
// group.
std::vector<const CLI::App*> shown_subcommands(const CLI::App& app);
std::vector<std::string> subcommand_names(const CLI::App& app);

// "-h", "--help", "--json": all names of an option, or of all options.
std::vector<std::string> option_names(const CLI::Option& option);
std::vector<std::string> option_names(const CLI::App& app);

// Whether a word behind it is its value.
bool takes_value(const CLI::Option& option);
// "FILE", without what CLI11 adds for validators.
std::string value_name(const CLI::Option& option);

// The subcommand that `words` lead to; null where one of them is unknown, which `unknown` then
// names.
const CLI::App* find_app(const CLI::App& program, const std::vector<std::string>& words,
                         std::string* unknown = nullptr);

manual::Command describe(const CLI::App& app);

}  // namespace gdr::cli
