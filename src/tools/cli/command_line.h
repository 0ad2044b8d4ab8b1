// The command line before and after CLI11: cuts off the command of `gdr run` or `gdr nccl run`
// before parsing, and turns every error into one line that names the word and what was meant, or
// what is allowed.
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

// Where the subcommand stands: --color may be in front of it.
std::size_t subcommand_at(const std::vector<std::string>& arguments);

// One line for a word that is no subcommand of `app`: what was meant, or which there are.
std::string unknown_subcommand(const CLI::App& app, const std::string& word);

// Whether the word that nobody took stands where a subcommand should.
bool has_unknown_subcommand(const CLI::App& program);

// One line for an error that `program` threw while parsing.
std::string usage_error(const CLI::App& program, const CLI::ParseError& error);

// Makes an empty value of any option of `command` an error.
void refuse_empty_values(CLI::App& command);

// Nothing for an option that was not given.
std::optional<std::string> given(const std::string& text);

// "--soft-nic, --no-soft-nic" or "prove, run": what the reader may type instead.
std::string allowed_options(const CLI::App& command);
std::string allowed_subcommands(const CLI::App& program);

}  // namespace gdr::cli
