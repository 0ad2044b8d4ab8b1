// The options that say which machine a subcommand looks at: this one, or one that was captured.
//
//   auto machine = std::make_shared<MachineOptions>();
//   add_machine_options(*topo, *machine);
//   ...
//   Result<host::Inventory> inventory = read_machine(*machine);
//   if (!inventory) say(fmt::format("gdr topo: {}", inventory.error().message));  // and exit 2
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "host/inventory.h"

namespace gdr::cli {

struct MachineOptions {
  std::string root = "/";
  std::string hwloc_xml, nccl_xml;
  std::vector<std::string> lspci;
};

// --root, --hwloc-xml, --nccl-xml and --lspci, of which a command line has one kind.
void add_machine_options(CLI::App& command, MachineOptions& options);

// This machine as it is now, and none that was captured.
bool is_live(const MachineOptions& options);

// The files that describe the captured machine, as typed.
std::vector<std::string> described_by(const MachineOptions& options);

// The error's line names the file. A captured machine that shows neither GPU nor NIC is an error.
Result<host::Inventory> read_machine(const MachineOptions& options);

// --driver-root: where a GPU driver's own modules lie.
void add_driver_root(CLI::App& command, std::string& driver_root);
// Throws for what is no path, or no folder below `root`.
void check_driver_root(const std::string& driver_root, const std::string& root);

}  // namespace gdr::cli
