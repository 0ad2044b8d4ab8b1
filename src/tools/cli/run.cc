#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/environment.h"
#include "base/interface_addresses.h"
#include "cli/command_line.h"
#include "cli/help.h"
#include "cli/run_devices.h"
#include "cli/run_exec.h"
#include "cli/run_plan.h"
#include "cli/run_ports.h"
#include "cli/run_settings.h"
#include "cli/run_supervise.h"
#include "cli/stand_ins.h"
#include "cli/subcommands.h"
#include "host/hardware.h"
#include "ports/port_file.h"
#include "ports/port_folder.h"
#include "process/find_program.h"
#include "watching/ledger_file.h"
#include "watching/processes.h"
#include "watching/snapshot.h"
#include "watching/usage.h"

namespace gdr::cli {
namespace {

struct RunOptions {
  bool quiet = false;
  std::optional<bool> soft_nic;
  std::optional<bool> soft_gpu;
  std::array<std::string, std::size(kRunSettings)> settings;  // empty: not given
  std::vector<std::string> command;
};

int refuse(const Error& error, int status) {
  say("gdr run: " + error.message);
  return status;
}

std::vector<Setting> settings_of(const RunOptions& options) {
  std::vector<Setting> settings;
  for (std::size_t i = 0; i < options.settings.size(); ++i) {
    if (options.settings[i].empty()) continue;
    const RunSetting& setting = kRunSettings[i];
    std::string value = options.settings[i];
    // The program may change its folder before it opens a device.
    if (setting.kind == SettingKind::kFile) value = std::filesystem::absolute(value);
    settings.push_back({setting.option, setting.variable, value});
  }
  return settings;
}

std::string presence_wish(const PlanInputs& inputs) {
  for (const Setting& setting : inputs.settings) {
    if (setting.variable == "GDR_PRESENCE") return setting.value;
  }
  return inputs.environment("GDR_PRESENCE").value_or("auto");
}

Result<ShownDevices> shown_devices(const PlanInputs& inputs, Stays stays) {
  const std::string wish = presence_wish(inputs);
  const Result<ShowBy> show_by = parse_show_by(wish);
  if (!show_by) return Error{EINVAL, "--presence, GDR_PRESENCE: " + show_by.error().message};
  Result<ShownDevices> shown =
      show_devices(*show_by, inputs.stand_ins, reason_not_to_preload(inputs), stays);
  // A wrong place in GDR_SOFT_DEVICES says so itself.
  if (shown || shown.error().code == EADDRNOTAVAIL) return shown;
  return Error{shown.error().code, "--presence " + wish + ": " + shown.error().message};
}

// iproute2's `rdma` looks for devices by netlink alone.
bool asks_netlink_in_vain(const Plan& plan, const ProgramFile& program) {
  const bool is_answered =
      std::any_of(plan.variables.begin(), plan.variables.end(),
                  [](const auto& variable) { return variable.first == "GDR_PRESENCE_ROOT"; });
  return !is_answered && std::filesystem::path(program.path).filename() == "rdma";
}

// libfabric leaves loopback out where it looks for devices.
bool only_loopback_is_up() {
  const std::vector<InterfaceAddress> addresses = interface_addresses();
  return !addresses.empty() &&
         std::none_of(addresses.begin(), addresses.end(),
                      [](const InterfaceAddress& one) { return one.is_up && !one.is_loopback; });
}

// Where the program's ports count. Without such a folder nothing is counted.
void set_ports_folder() {
  const Result<std::string> account = ports::account_folder();
  const std::string folder = account ? ports::port_folder(*account) : std::string();
  if (folder.empty()) {
    unsetenv(ports::kPortsVariable);
  } else {
    setenv(ports::kPortsVariable, folder.c_str(), 1);
  }
}

// Whichever of the program's processes could not write a packet.
bool said_capture_is_cut(const watching::Snapshot& calls) {
  for (const watching::Process& one : calls.processes) {
    if (one.capture_error == 0) continue;
    say(fmt::format("gdr run: --pcap: {} has not all packets: {}; those that it has are whole",
                    environment("GDR_SOFT_PCAP").value_or(""), std::strerror(one.capture_error)));
    return true;
  }
  return false;
}

// Says at the end what the program did with the stand-ins.
int run_to_its_end(const Plan& plan, const ProgramFile& program, const ShownDevices& devices,
                   const std::function<Error()>& become) {
  Result<watching::LedgerFile> file = watching::LedgerFile::make();
  if (file) setenv(ledger::kRunVariable, file->variable().c_str(), 1);
  std::optional<watching::Processes> processes;
  std::optional<PortRefresher> ports;
  if (devices.counters_below) {
    ports.emplace(*devices.counters_below, environment(ports::kPortsVariable).value_or(""));
    ports->refresh();
  }
  const Result<int> status = supervise(become, [&](pid_t started) {
    if (!processes) processes.emplace(started);
    processes->look_now_and_then();
    if (ports) ports->refresh();
  });
  if (ports) ports->refresh();
  if (!status) return refuse(status.error(), exit_status_for(status.error().code));
  if (file) {
    const watching::Snapshot calls = watching::take_snapshot(file->ledger());
    const watching::Offered offered{plan.soft_nic,         plan.soft_gpu,
                                    program.has_rpath,     asks_netlink_in_vain(plan, program),
                                    only_loopback_is_up(), plan.has_places};
    say("gdr run: " +
        usage_line(offered, calls,
                   processes ? processes->seen() : std::map<pid_t, watching::SeenProcess>()));
    if (said_capture_is_cut(calls) && *status == 0) return kFailed;
  }
  end_as(*status);
}

// What the stand-ins read when they are asked about themselves, before the program has it.
void set_for_stand_ins(const Plan& plan, const PlanInputs& inputs) {
  if (!plan.soft_nic) return;
  for (const Setting& setting : inputs.settings) {
    setenv(setting.variable.c_str(), setting.value.c_str(), 1);
  }
}

Result<void> check_stand_ins(const Plan& plan, const PlanInputs& inputs) {
  using Check = Result<void>(const std::string& folder);
  for (const auto& [is_used, check] : {std::pair<bool, Check*>{plan.soft_nic, &check_soft_nic},
                                       {plan.soft_gpu, &check_soft_gpu},
                                       {plan.observes, &check_observer}}) {
    if (!is_used) continue;
    if (Result<void> usable = check(inputs.stand_ins); !usable) return usable;
  }
  return {};
}

int run(const RunOptions& options) {
  // Within another `gdr run`: this one looks at the machine, not at what that one shows.
  unsetenv("GDR_PRESENCE_ROOT");
  const Result<std::string> path =
      process::find_program(options.command.front(), process::search_path());
  if (!path) return refuse(path.error(), exit_status_for(path.error().code));
  const Result<ProgramFile> program = inspect_program(*path);
  if (!program) return refuse(program.error(), exit_status_for(program.error().code));
  const Result<std::string> stand_ins = stand_in_folder();
  if (!stand_ins) return refuse(stand_ins.error(), kWrongUse);

  PlanInputs inputs;
  inputs.soft_nic = options.soft_nic;
  inputs.soft_gpu = options.soft_gpu;
  inputs.hardware = {host::has_rdma_nic(), host::has_gpu()};
  inputs.gpus = host::gpus();
  inputs.stand_ins = *stand_ins;
  inputs.program = *program;
  inputs.settings = settings_of(options);
  inputs.environment = [](const char* name) { return environment(name); };
  Result<Plan> plan = make_plan(inputs);
  if (!plan) return refuse(plan.error(), kWrongUse);
  set_for_stand_ins(*plan, inputs);
  if (Result<void> usable = check_stand_ins(*plan, inputs); !usable) {
    return refuse(usable.error(), kWrongUse);
  }
  if (plan->soft_nic) {
    set_ports_folder();
    Result<ShownDevices> shown = shown_devices(inputs, options.quiet ? Stays::kNo : Stays::kYes);
    if (!shown) return refuse(shown.error(), kWrongUse);
    inputs.devices = *std::move(shown);
    plan = make_plan(inputs);
    if (!plan) return refuse(plan.error(), kWrongUse);
  }
  const auto become = [&] { return replace_process(*plan, *path, options.command); };
  if (options.quiet || (!plan->soft_nic && !plan->soft_gpu)) {
    if (!options.quiet) say("gdr run: " + plan->summary);
    const Error error = become();
    return refuse(error, exit_status_for(error.code));
  }
  say("gdr run: " + plan->summary);
  return run_to_its_end(*plan, *program, inputs.devices, become);
}

// Adds --NAME and --no-NAME, which exclude each other; returns the second.
CLI::Option* add_switch(CLI::App& command, const std::string& name, std::optional<bool>& value,
                        const std::string& on, const std::string& off) {
  CLI::Option* yes = command.add_flag_callback(
      "--" + name, [&value] { value = true; }, on);
  CLI::Option* no = command.add_flag_callback(
      "--no-" + name, [&value] { value = false; }, off);
  yes->excludes(no);
  return no;
}

void add_settings(CLI::App& command, RunOptions& options, CLI::Option* real_nic) {
  for (std::size_t i = 0; i < options.settings.size(); ++i) {
    const RunSetting& setting = kRunSettings[i];
    std::string& value = options.settings[i];
    CLI::Option* option =
        setting.kind == SettingKind::kFlag
            ? command.add_flag_callback(
                  setting.option, [&value, &setting] { value = setting.value; }, setting.help)
            : command.add_option(setting.option, value, setting.help)->type_name(setting.value);
    option->excludes(real_nic);
  }
}

}  // namespace

void add_run(CLI::App& program, Action& chosen, const std::vector<std::string>& command) {
  auto options = std::make_shared<RunOptions>();
  options->command = command;
  CLI::App* run_command =
      program.add_subcommand("run", "Run an unmodified program on the software NIC and GPU");
  CLI::Option* real_nic =
      add_switch(*run_command, "soft-nic", options->soft_nic,
                 "Use the software NIC (default: if there is no RDMA NIC)", "Use the real NIC");
  add_switch(*run_command, "soft-gpu", options->soft_gpu,
             "Use the software GPU (default: if there is no GPU)", "Use the real GPU");
  add_settings(*run_command, *options, real_nic);
  run_command->add_flag("-q,--quiet", options->quiet,
                        "No lines of gdr run's own; it then becomes the program instead of waiting "
                        "for it");
  refuse_empty_values(*run_command);
  run_command->callback([options, &chosen] {
    if (options->command.empty()) {
      throw CLI::ValidationError("no PROGRAM given, as in 'gdr run -- ibv_devinfo'");
    }
    chosen = [options] { return run(*options); };
  });
}

}  // namespace gdr::cli
