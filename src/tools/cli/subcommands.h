// The subcommands of `gdr`: one function each, defined in the file of the same name.
//
//   void add_topo(CLI::App& program, Action& chosen) {
//     auto options = std::make_shared<TopoOptions>();
//     CLI::App* topo = program.add_subcommand("topo", "GPUs and NICs, and how near they are");
//     topo->add_flag("--json", options->json, "Print one JSON document instead of text");
//     topo->callback([options, &chosen] { chosen = [options] { return run_topo(*options); }; });
//   }
//
// A callback only checks values (CLI::ValidationError becomes one line and exit status 2) and sets
// `chosen`; main() carries it out after the whole command line was found right.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "cli/command_line.h"

namespace gdr::cli {

// Returns the exit status: 0 success, 1 the work failed, 2 wrong use, 3 neither:
// docs/exit-status.md.
using Action = std::function<int()>;

// Adds those that a program has: all, or what ./gdr builds before the rest.
using Subcommands = void (*)(CLI::App& program, Action& chosen, const CommandLine& line);
void add_all(CLI::App& program, Action& chosen, const CommandLine& line);

void add_counters(CLI::App& program, Action& chosen);
void add_doctor(CLI::App& program, Action& chosen);
void add_explain(CLI::App& program, Action& chosen);
void add_fabric(CLI::App& program, Action& chosen);
void add_fix(CLI::App& program, Action& chosen);
void add_help(CLI::App& program, Action& chosen);
void add_list(CLI::App& program, Action& chosen);
void add_mpi(CLI::App& program, Action& chosen);
void add_peermem(CLI::App& program, Action& chosen);
// `typed`: the words after the program's name.
void add_perf(CLI::App& program, Action& chosen, const std::vector<std::string>& typed);
void add_prove(CLI::App& program, Action& chosen);
void add_topo(CLI::App& program, Action& chosen);
void add_version(CLI::App& program, Action& chosen);

// `command` is what follows the options of `gdr run`, `gdr watch` or `gdr nccl run`: the program
// and its own arguments, which main() took away before parsing so that no option of theirs is ever
// taken for one of ours.
void add_nccl(CLI::App& program, Action& chosen, const std::vector<std::string>& command);
void add_run(CLI::App& program, Action& chosen, const std::vector<std::string>& command);
void add_watch(CLI::App& program, Action& chosen, const std::vector<std::string>& command);

}  // namespace gdr::cli
