// gdr topo: shows how near GPUs and NICs are, and which NIC each GPU should use.
#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "cli/command_line.h"
#include "cli/help.h"
#include "cli/machine_options.h"
#include "cli/machine_origin.h"
#include "cli/report_files.h"
#include "cli/subcommands.h"
#include "cli/this_host.h"
#include "text/format.h"
#include "text/style.h"
#include "topo/output/json_report.h"
#include "topo/output/svg.h"
#include "topo/output/text_report.h"

namespace gdr::cli {
namespace {

struct TopoOptions {
  MachineOptions machine;
  std::vector<std::string> devices;
  topo::Sections sections;
  bool json = false;
  ReportFiles report{{".json", ".svg"}};
};

int failed(const std::string& message, int status) {
  say("gdr topo: " + printable(message));
  return status;
}

int run_topo(const TopoOptions& options) {
  Result<host::Inventory> inventory = read_machine(options.machine);
  if (!inventory) return failed(inventory.error().message, kWrongUse);
  look_closer(options.machine, *inventory);
  topo::Origin origin = origin_of(options.machine, *inventory);
  Result<topo::Report> report =
      topo::make_report(*std::move(inventory), std::move(origin), options.devices);
  if (!report) {
    const Error& error = report.error();
    return failed((error.code == E2BIG ? "" : "--device: ") + error.message, kWrongUse);
  }
  const Result<void> written = options.report.write([&](std::string_view ending) {
    return ending == ".svg" ? topo::to_svg(*report, options.sections.all)
                            : topo::to_json(*report, provenance());
  });
  if (!written) return failed(written.error().message, kFailed);
  const std::string text = options.json
                               ? topo::to_json(*report, provenance())
                               : topo::to_text(*report, text::Style::of(stdout), options.sections);
  std::fputs(text.c_str(), stdout);
  return 0;
}

}  // namespace

void add_topo(CLI::App& program, Action& chosen) {
  auto options = std::make_shared<TopoOptions>();
  CLI::App* topo = program.add_subcommand(
      "topo", "Show how near GPUs and NICs are, and the best NIC for each GPU");
  begin_group(*topo, "Output");
  topo->add_option("--device", options->devices,
                   "Add a PCI function to the matrix, such as an NVMe drive; may be repeated")
      ->type_name("ADDRESS")
      ->allow_extra_args(false);
  topo->add_flag("--tree", options->sections.tree, "Print the PCI tree instead of the matrix");
  topo->add_flag(
      "--all", options->sections.all,
      "With --tree or a drawing: every PCI function, not only the paths to GPUs and NICs");
  topo->add_flag("--json", options->json, "Print one JSON document instead of text");
  options->report.add_to(*topo, ".json; .svg, a drawing of the tree");
  add_machine_options(*topo, options->machine);
  refuse_empty_values(*topo);
  topo->callback([options, &chosen] {
    if (options->sections.all && !options->sections.tree && !options->report.has(".svg")) {
      throw CLI::ValidationError("--all needs --tree or --report FILE.svg");
    }
    chosen = [options] { return run_topo(*options); };
  });
}

}  // namespace gdr::cli
