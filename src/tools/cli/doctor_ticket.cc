#include "cli/doctor_ticket.h"

#include <optional>

#include "cli/help.h"
#include "cli/machine_origin.h"
#include "cli/this_host.h"
#include "doctor/json_report.h"
#include "doctor/prometheus_report.h"
#include "doctor/ticket/ticket.h"
#include "topo/listing.h"
#include "topo/output/list_text.h"
#include "topo/output/svg.h"
#include "topo/output/tree_text.h"
#include "version/version.h"

namespace gdr::cli {
namespace {

// A machine that is too large for a matrix has none.
void add_topology(const MachineOptions& machine, const host::Inventory& inventory,
                  doctor::Ticket& ticket) {
  const topo::Origin origin = origin_of(machine, inventory);
  if (const auto report = topo::make_report(inventory, origin, {})) {
    if (report->devices.empty()) return;
    ticket.drawing = topo::to_svg(*report, false);
    ticket.topology = topo::tree_text(*report, false, 0);
  }
  if (const auto listing = topo::make_listing(inventory, origin, {})) {
    ticket.devices = topo::to_text(*listing, text::Style());
  }
}

doctor::Ticket ticket_of(const MachineOptions& machine, const doctor::Host& host,
                         const doctor::Report& report) {
  host::Inventory inventory = host.inventory;
  look_closer(machine, inventory);
  host::name_functions(inventory);
  const doctor::Host named{host.files,  inventory,       host.environment,
                           host.probes, host.kernel_log, {}};
  doctor::Ticket ticket{report, doctor::facts_of(named), program_version(), time_now(), {}, {}, {},
                        {}};
  if (host.is_live()) ticket.host_name = name_of_this_host();
  add_topology(machine, inventory, ticket);
  return ticket;
}

}  // namespace

Result<void> write_reports(const ReportFiles& files, const MachineOptions& machine,
                           const doctor::Host& host, const doctor::Report& report) {
  std::optional<doctor::Ticket> ticket;  // of both forms
  return files.write([&](std::string_view ending) {
    if (ending == ".json") return to_json(report, provenance());
    if (ending == ".prom") return doctor::to_prometheus(report);
    if (!ticket) ticket.emplace(ticket_of(machine, host, report));
    return ending == ".md" ? to_markdown(*ticket) : to_html(*ticket);
  });
}

}  // namespace gdr::cli
