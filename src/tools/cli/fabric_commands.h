// gdr fabric: its options, and the functions that its files call of each other.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "cli/report_files.h"
#include "cli/subcommands.h"
#include "fabric/run.h"

namespace gdr::cli {

struct FabricOptions {
  fabric::RunOptions run;
  std::string hosts, ssh = "ssh", program, secret, lines;
  std::uint32_t local = 0, port = 0;
  ReportFiles report{{".json", ".html", ".prom", ".txt"}};
  bool json = false;
};

// Collects, or takes part: as the launcher says. The exit status.
int run_fabric(FabricOptions& options);

void add_fabric_compare(CLI::App& fabric, Action& chosen);
// Hidden subcommands of `program`, which gdr fabric starts: a member on each host, and the process
// that holds a member's rails.
void add_fabric_processes(CLI::App& program, Action& chosen);

}  // namespace gdr::cli
