// What main() does with the command line around CLI11: the command of `gdr run` or `gdr nccl run`
// is cut off before parsing, and every error becomes one line that names the word and what is
// allowed.
//
//   CommandLine line = split_command_line({"run", "--soft-nic", "--", "ibv_devinfo", "-v"});
//   // line.own == {"run", "--soft-nic"}, line.command == {"ibv_devinfo", "-v"}
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

namespace gdr::cli {

struct CommandLine {
  std::vector<std::string> own;      // for CLI11
  std::vector<std::string> command;  // the program that is started, and its arguments
};

// `arguments` without the name of the program itself.
CommandLine split_command_line(const std::vector<std::string>& arguments);

// One line for an error of `program`, which has tried to parse.
std::string usage_error(const CLI::App& program, const CLI::ParseError& error);

// An option of `command` that is given an empty value is an error.
void refuse_empty_values(CLI::App& command);

// Nothing for an option that was not given.
std::optional<std::string> given(const std::string& text);

// "--soft-nic, --no-soft-nic" or "prove, run": what the reader may type instead.
std::string allowed_options(const CLI::App& command);
std::string allowed_subcommands(const CLI::App& program);

}  // namespace gdr::cli
