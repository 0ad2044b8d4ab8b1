// gdr doctor: what is wrong with this host, and how to set it right.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "base/environment.h"
#include "cli/command_line.h"
#include "cli/doctor_commands.h"
#include "cli/doctor_ticket.h"
#include "cli/help.h"
#include "cli/machine_options.h"
#include "cli/subcommands.h"
#include "cli/this_host.h"
#include "doctor/checks/all.h"
#include "doctor/container.h"
#include "doctor/environment.h"
#include "doctor/json_report.h"
#include "doctor/kernel_log.h"
#include "doctor/live_probes.h"
#include "doctor/prometheus_report.h"
#include "doctor/run.h"
#include "doctor/text_report.h"
#include "text/live_line.h"

namespace gdr::cli {
namespace {

struct DoctorOptions {
  MachineOptions machine;
  std::string explain, only, format, driver_root;
  ReportFiles report{{".json", ".html", ".md", ".prom"}};
  bool all = false, json = false, container = false, no_probe = false;
  std::vector<const doctor::Check*> checks;  // chosen by an option; empty: all
};

std::string known_checks() {
  std::string names;
  for (const doctor::Check* check : doctor::all_checks()) {
    names += (names.empty() ? "" : ", ") + std::string(check->id);
  }
  return names;
}

void choose(DoctorOptions& options, const std::string& list) {
  for (std::string_view id : split(list, ',')) {
    const doctor::Check* check = doctor::find_check(std::string(id));
    if (check == nullptr) {
      throw CLI::ValidationError(
          fmt::format("unknown check '{}'; allowed: {}", id, known_checks()));
    }
    if (std::find(options.checks.begin(), options.checks.end(), check) == options.checks.end()) {
      options.checks.push_back(check);
    }
  }
}

void read_values(DoctorOptions& options) {
  if (!options.format.empty()) {
    if (options.format == "json") {
      throw CLI::ValidationError("--format json is spelled --json; type: gdr doctor --json");
    }
    if (options.format != "text" && options.format != "prometheus") {
      throw CLI::ValidationError(
          fmt::format("unknown format '{}'; allowed: text, prometheus", options.format));
    }
    if (options.format == "prometheus" && (options.container || !options.explain.empty())) {
      throw CLI::ValidationError(
          "--format prometheus works neither with --explain nor with --container");
    }
    if (options.json) {
      throw CLI::ValidationError(
          fmt::format("--json and --format {} exclude each other", options.format));
    }
  }
  if (!options.explain.empty() && options.json) {
    throw CLI::ValidationError("--explain and --json exclude each other; use --only for JSON");
  }
  if (!options.explain.empty()) {
    if (options.explain.find(',') != std::string::npos) {
      throw CLI::ValidationError("--explain takes one check");
    }
    choose(options, options.explain);
  }
  if (!options.only.empty()) choose(options, options.only);
  if (!options.only.empty() && (options.report.has(".html") || options.report.has(".md"))) {
    throw CLI::ValidationError(
        "--only and a --report for a ticket exclude each other; leave out --only, or write "
        ".json or .prom");
  }
  if (options.container) choose(options, "devices,locked-memory");
  check_driver_root(options.driver_root, options.machine.root);
}

// A single file describes the machine, so there is no folder to read files from.
bool is_described(const MachineOptions& machine) {
  return machine.root == "/" && !is_live(machine);
}

doctor::Report examine(const DoctorOptions& options, const doctor::Host& host) {
  doctor::Selection selection;
  selection.checks = options.checks;
  selection.probes = !options.no_probe;
  text::LiveLine line(stderr);
  doctor::Report report = doctor::examine(host, selection, [&](const doctor::Check& check) {
    if (check.cost != doctor::Cost::kPassive) line.show(fmt::format("probing: {}", check.id));
  });
  if (is_described(options.machine)) report.source = described_by(options.machine).front();
  return report;
}

std::string answer(const DoctorOptions& options, const doctor::Host& host,
                   const doctor::Report& report) {
  if (options.format == "prometheus") return doctor::to_prometheus(report);
  const doctor::TextOptions text{options.all, text::Style::of(stdout)};
  if (!options.explain.empty()) return doctor::explain(report.judgements.front(), text);
  if (!options.container) {
    return options.json ? doctor::to_json(report, provenance()) : doctor::to_text(report, text);
  }
  const doctor::ContainerView view = doctor::look_at_container(host);
  if (options.json) return doctor::to_json(report, provenance(), &view);
  return doctor::to_text(view, text) + doctor::to_text(report, text);
}

int run_doctor(const DoctorOptions& options) {
  Result<host::Inventory> inventory = read_machine(options.machine);
  if (!inventory) {
    say(fmt::format("gdr doctor: {}", inventory.error().message));
    return kWrongUse;
  }
  const host::Files files(is_described(options.machine) ? "/dev/null" : options.machine.root);
  doctor::LiveProbes probes;
  doctor::Host host{files, *inventory, doctor::read_environment(files), nullptr, {}, {}};
  if (files.is_live()) host.probes = &probes;
  host.kernel_log = doctor::read_kernel_log(files);
  if (!options.driver_root.empty()) {
    host.environment[doctor::kDriverRootVariable] = options.driver_root;
  }
  const doctor::Report report = examine(options, host);
  if (!options.report.empty()) {
    const Result<void> written = write_reports(options.report, options.machine, host, report);
    if (!written) {
      say("gdr doctor: " + written.error().message);
      return kFailed;
    }
  }
  std::fputs(answer(options, host, report).c_str(), stdout);
  return doctor::exit_status(report);
}

void add_options(CLI::App& command, const std::shared_ptr<DoctorOptions>& options) {
  begin_group(command, "Checks");
  CLI::Option* only = command.add_option(
      "--only", options->only, "Run only these checks, such as gpus,locked-memory (default: all)");
  only->type_name("LIST");
  CLI::Option* explain = command.add_option(
      "--explain", options->explain, "Show one check: what it reads, how it judges, what it found");
  explain->type_name("CHECK");
  CLI::Option* container = command.add_flag(
      "--container", options->container,
      "Show what this container was given and lacks: devices, capabilities, limits, namespaces");
  command.add_flag("--no-probe", options->no_probe,
                   "Read files only: do not start CUDA or NVML, do not touch a NIC");
  add_driver_root(command, options->driver_root);
  begin_group(command, "Output");
  command.add_flag("-v,--all", options->all, "Also list the checks that pass or do not apply");
  command.add_flag("--json", options->json, "Print one JSON document instead of text");
  command.add_option("--format", options->format, "text or prometheus (default: text)")
      ->type_name("FORMAT");
  CLI::Option* report =
      options->report.add_to(command,
                             ".json; .prom, metrics for Prometheus; for a ticket .html, a page, or "
                             ".md, to paste");
  report->excludes(explain)->excludes(container);
  for (CLI::Option* one : {explain, only, container}) {
    for (CLI::Option* other : {explain, only, container}) {
      if (one != other) one->excludes(other);
    }
  }
  add_machine_options(command, options->machine);
}

}  // namespace

void add_doctor(CLI::App& program, Action& chosen) {
  auto options = std::make_shared<DoctorOptions>();
  CLI::App* command = program.add_subcommand(
      "doctor", "Find what keeps GPUDirect RDMA from working here, and how to fix it");
  add_doctor_capture(*command, chosen);
  add_options(*command, options);
  refuse_empty_values(*command);
  command->callback([command, options, &chosen] {
    if (!command->get_subcommands().empty()) return;
    read_values(*options);
    chosen = [options] { return run_doctor(*options); };
  });
}

}  // namespace gdr::cli
