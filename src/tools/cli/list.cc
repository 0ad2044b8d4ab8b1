// gdr list: lists every GPU and every RDMA port under all their names.
#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "cli/command_line.h"
#include "cli/help.h"
#include "cli/machine_options.h"
#include "cli/machine_origin.h"
#include "cli/stand_ins.h"
#include "cli/subcommands.h"
#include "cli/this_host.h"
#include "text/format.h"
#include "text/style.h"
#include "topo/listing.h"
#include "topo/output/list_json.h"
#include "topo/output/list_text.h"
#include "topo/stand_ins.h"

namespace gdr::cli {
namespace {

struct ListOptions {
  MachineOptions machine;
  bool json = false, soft = false;
};

int failed(const std::string& message, int status) {
  say("gdr list: " + printable(message));
  return status;
}

// A missing stand-in is listed as not seen; a wrong variable is wrong use.
Result<void> check(const topo::StandInLibraries& libraries) {
  const Result<std::string> folder = stand_in_folder();
  if (!folder) return {};
  for (const auto& [library, check_one] :
       {std::pair(libraries.verbs, &check_soft_nic), std::pair(libraries.cuda, &check_soft_gpu)}) {
    Result<void> usable = library.empty() ? Result<void>() : check_one(*folder);
    if (!usable && usable.error().code == EINVAL) return usable;
  }
  return {};
}

int run_list(const ListOptions& options) {
  topo::StandInLibraries libraries;
  if (is_live(options.machine)) libraries = topo::stand_in_libraries(options.soft);
  if (const Result<void> usable = check(libraries); !usable) {
    return failed(usable.error().message, kWrongUse);
  }
  Result<host::Inventory> inventory = read_machine(options.machine);
  if (!inventory) return failed(inventory.error().message, kWrongUse);
  look_closer(options.machine, *inventory);
  const topo::StandIns stand_ins = topo::find_stand_ins(libraries);
  topo::Origin origin = origin_of(options.machine, *inventory);
  const Result<topo::Listing> listing =
      topo::make_listing(*std::move(inventory), std::move(origin), stand_ins);
  if (!listing) return failed(listing.error().message, kWrongUse);
  const std::string text = options.json ? topo::to_json(*listing, provenance())
                                        : topo::to_text(*listing, text::Style::of(stdout));
  std::fputs(text.c_str(), stdout);
  return 0;
}

}  // namespace

void add_list(CLI::App& program, Action& chosen) {
  auto options = std::make_shared<ListOptions>();
  CLI::App* list =
      program.add_subcommand("list", "List every GPU and every RDMA port, one line each");
  begin_group(*list, "Output");
  list->add_flag("--json", options->json,
                 "Print one JSON document instead of text, with every GID");
  list->add_flag("--soft", options->soft,
                 "List the stand-ins (software NIC and GPU) even if there is hardware (default: "
                 "only for what is missing)");
  add_machine_options(*list, options->machine);
  refuse_empty_values(*list);
  list->callback([options, &chosen] {
    if (options->soft && !is_live(options->machine)) {
      throw CLI::ValidationError("--soft works on this machine only, not on a captured one");
    }
    chosen = [options] { return run_list(*options); };
  });
}

}  // namespace gdr::cli
