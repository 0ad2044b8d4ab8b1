#include "cli/machine_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/help.h"
#include "host/gpu_or_nic.h"
#include "host/plain_path.h"
#include "host/source/source.h"
#include "text/format.h"

namespace gdr::cli {

void add_machine_options(CLI::App& command, MachineOptions& options) {
  begin_group(command, "Captured machine");
  CLI::Option* root =
      command.add_option("--root", options.root,
                         "Captured root: a folder that holds sys and proc, or a tar archive of it "
                         "(default: /, this machine)");
  root->type_name("PATH");
  CLI::Option* hwloc =
      command.add_option("--hwloc-xml", options.hwloc_xml, "XML file that lstopo wrote");
  hwloc->type_name("FILE");
  CLI::Option* nccl =
      command.add_option("--nccl-xml", options.nccl_xml, "Topology file of NCCL (XML)");
  nccl->type_name("FILE");
  CLI::Option* lspci = command.add_option(
      "--lspci", options.lspci,
      "Text of lspci -vvv or lspci -tv; give the option twice for both of one machine");
  // One value each time, so that it never swallows an argument behind it.
  lspci->type_name("FILE")->allow_extra_args(false);
  for (CLI::Option* one : {root, hwloc, nccl, lspci}) {
    for (CLI::Option* other : {root, hwloc, nccl, lspci}) {
      if (one != other) one->excludes(other);
    }
  }
}

bool is_live(const MachineOptions& options) {
  return options.root == "/" && options.hwloc_xml.empty() && options.nccl_xml.empty() &&
         options.lspci.empty();
}

std::vector<std::string> described_by(const MachineOptions& options) {
  if (!options.hwloc_xml.empty()) return {options.hwloc_xml};
  if (!options.nccl_xml.empty()) return {options.nccl_xml};
  if (!options.lspci.empty()) return options.lspci;
  return {options.root};
}

Result<host::Inventory> read_machine(const MachineOptions& options) {
  host::Source source;
  source.root = options.root;
  source.hwloc_xml = options.hwloc_xml;
  source.nccl_xml = options.nccl_xml;
  source.lspci = options.lspci;
  Result<host::Inventory> inventory = host::read_inventory(source);
  if (!inventory || is_live(options) || host::shows_gpu_or_nic(*inventory)) return inventory;
  return Error{ENODEV,
               fmt::format("{} shows neither GPU nor NIC ({}); capture the host itself, not a "
                           "container: sudo gdr doctor capture host.tar",
                           fmt::join(described_by(options), " and "),
                           text::plural(inventory->pci.functions().size(), "PCI function"))};
}

void add_driver_root(CLI::App& command, std::string& driver_root) {
  command
      .add_option("--driver-root", driver_root,
                  "Folder that holds the lib/modules of a GPU driver in a container, such as "
                  "/run/nvidia/driver (default: search for it)")
      ->type_name("DIR");
}

void check_driver_root(const std::string& driver_root, const std::string& root) {
  if (driver_root.empty() || driver_root == "/") return;
  if (!host::is_plain_path(driver_root)) {
    throw CLI::ValidationError("--driver-root needs an absolute path, such as /run/nvidia/driver");
  }
  if (host::Files(root).exists(driver_root.substr(1))) return;
  throw CLI::ValidationError("--driver-root " + driver_root + ": no such folder" +
                             (root == "/" ? "" : " on the captured machine"));
}

}  // namespace gdr::cli
