#include "cli/machine_options.h"

#include "host/registration/driver_roots.h"
#include "host/source/source.h"

namespace gdr::cli {

void add_machine_options(CLI::App& command, MachineOptions& options) {
  CLI::Option* root = command.add_option(
      "--root", options.root, "A captured machine: a folder with its sys and proc (default: /)");
  root->type_name("DIR");
  CLI::Option* hwloc = command.add_option("--hwloc-xml", options.hwloc_xml,
                                          "A captured machine: what lstopo wrote as XML");
  hwloc->type_name("FILE");
  CLI::Option* nccl = command.add_option("--nccl-xml", options.nccl_xml,
                                         "A captured machine: a topology file of NCCL");
  nccl->type_name("FILE");
  CLI::Option* lspci = command.add_option(
      "--lspci", options.lspci,
      "A captured machine: text of lspci -vvv or lspci -tv; twice for both of one machine");
  // One value each time, so that it never swallows an argument behind it.
  lspci->type_name("FILE")->allow_extra_args(false);
  for (CLI::Option* one : {root, hwloc, nccl, lspci}) {
    for (CLI::Option* other : {root, hwloc, nccl, lspci}) {
      if (one != other) one->excludes(other);
    }
  }
}

Result<host::Inventory> read_machine(const MachineOptions& options) {
  host::Source source;
  source.root = options.root;
  source.hwloc_xml = options.hwloc_xml;
  source.nccl_xml = options.nccl_xml;
  source.lspci = options.lspci;
  return host::read_inventory(source);
}

void add_driver_root(CLI::App& command, std::string& driver_root) {
  command
      .add_option("--driver-root", driver_root,
                  "Where a GPU driver's own lib/modules lies, as /run/nvidia/driver (default: "
                  "looked for)")
      ->type_name("DIR");
}

void check_driver_root(const std::string& driver_root, const std::string& root) {
  if (driver_root.empty() || driver_root == "/") return;
  if (!host::is_plain_path(driver_root)) {
    throw CLI::ValidationError(
        "--driver-root takes a path from the root, as in /run/nvidia/driver");
  }
  if (host::Files(root).exists(driver_root.substr(1))) return;
  throw CLI::ValidationError("--driver-root " + driver_root + ": there is no such folder" +
                             (root == "/" ? "" : " on the captured machine"));
}

}  // namespace gdr::cli
