// gdr peermem: the kernel module by which the RDMA stack registers GPU memory: would one help,
// which fits, build it, install it.
#include <fmt/format.h>

#include <cstdio>

#include "cli/command_line.h"
#include "cli/help.h"
#include "cli/machine_options.h"
#include "cli/peermem_commands.h"
#include "host/source/source.h"

namespace gdr::cli {

void add_peermem_options(CLI::App& command, PeermemOptions& options) {
  peermem::Choices& choices = options.choices;
  begin_group(command, "Kernel, driver and RDMA stack (default: gdr searches)");
  command
      .add_option("--kernel", choices.kernel, "Release of the kernel (default: the one that runs)")
      ->type_name("RELEASE");
  command
      .add_option("--driver-module", choices.driver_module,
                  "The GPU driver's nvidia.ko, also .ko.gz, .ko.xz or .ko.zst, wherever it lies")
      ->type_name("FILE");
  command
      .add_option("--driver-source", choices.driver_source,
                  "Folder of the GPU driver's kernel sources; its nvidia.ko is used where it was "
                  "built there")
      ->type_name("DIR");
  command
      .add_option("--rdma", choices.rdma,
                  "Folder of the RDMA stack's build with its Module.symvers, or the file of its "
                  "module")
      ->type_name("DIR");
  command.add_option("--headers", choices.headers, "Folder of the kernel's headers")
      ->type_name("DIR");
  add_driver_root(command, choices.driver_root);
  command
      .add_option("--root", options.root,
                  "Look at a captured root, a folder or a tar archive, instead of this machine "
                  "(default: /)")
      ->type_name("PATH");
}

void check_peermem_options(const PeermemOptions& options) {
  check_driver_root(options.choices.driver_root, options.root);
  if (!options.choices.driver_module.empty() && !options.choices.driver_source.empty()) {
    throw CLI::ValidationError(
        "--driver-module and --driver-source exclude each other: both name the driver");
  }
}

Result<peermem::Survey> take_survey(const PeermemOptions& options) {
  host::Source source;
  source.root = options.root;
  const Result<host::Inventory> inventory = host::read_inventory(source);
  if (!inventory) return inventory.error();
  return peermem::take_survey(host::Files(options.root), *inventory, options.choices);
}

void add_peermem(CLI::App& program, Action& chosen) {
  CLI::App* peermem = program.add_subcommand(
      "peermem", "Judge, build, install and remove a peer-memory kernel module");
  add_peermem_status(*peermem, chosen);
  add_peermem_build(*peermem, chosen);
  add_peermem_install(*peermem, chosen);
  add_peermem_remove(*peermem, chosen);
  peermem->callback([peermem] {
    if (!peermem->get_subcommands().empty()) return;
    throw CLI::ValidationError("no subcommand given; allowed: " + allowed_subcommands(*peermem));
  });
}

}  // namespace gdr::cli
