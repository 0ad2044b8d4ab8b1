// The whole program as a tree of subcommands, for whoever parses, completes or describes it.
//
//   Program program(line, add_all);
//   program.parse(line.own);      // throws CLI::ParseError
//   return program.chosen();
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "cli/subcommands.h"

namespace gdr::cli {

struct Program {
  explicit Program(const CommandLine& line = {}, const Subcommands& add = add_all);
  // Actions hold addresses of its members.
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void parse(const std::vector<std::string>& words);

  CLI::App app;
  Action chosen;
};

}  // namespace gdr::cli
