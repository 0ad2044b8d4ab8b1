#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <optional>

#include "base/environment.h"
#include "cli/run_exec.h"
#include "cli/run_plan.h"
#include "cli/stand_ins.h"
#include "cli/subcommands.h"
#include "host/hardware.h"

namespace gdr::cli {
namespace {

constexpr int kWrongUse = 2;
// What execvp() searches when PATH is unset.
constexpr const char* kDefaultPath = "/bin:/usr/bin";

struct RunOptions {
  std::optional<bool> soft_nic;
  std::optional<bool> soft_gpu;
  std::vector<std::string> command;
};

int refuse(const Error& error, int status) {
  fmt::print(stderr, "gdr run: {}\n", error.message);
  return status;
}

int run(const RunOptions& options) {
  const Result<std::string> path =
      find_program(options.command.front(), environment("PATH").value_or(kDefaultPath));
  if (!path) return refuse(path.error(), exit_status_for(path.error().code));
  const Result<ProgramFile> program = inspect_program(*path);
  if (!program) return refuse(program.error(), exit_status_for(program.error().code));
  const Result<std::string> stand_ins = stand_in_folder();
  if (!stand_ins) return refuse(stand_ins.error(), kWrongUse);

  PlanInputs inputs;
  inputs.soft_nic = options.soft_nic;
  inputs.soft_gpu = options.soft_gpu;
  inputs.hardware = {host::has_rdma_nic(), host::has_gpu()};
  inputs.stand_ins = *stand_ins;
  inputs.program = *program;
  inputs.environment = [](const char* name) { return environment(name); };
  const Result<Plan> plan = make_plan(inputs);
  if (!plan) return refuse(plan.error(), kWrongUse);
  if (plan->soft_nic) {
    Result<void> usable = check_soft_nic(*stand_ins);
    if (!usable) return refuse(usable.error(), kWrongUse);
  }
  if (plan->soft_gpu) {
    Result<void> usable = check_soft_gpu(*stand_ins);
    if (!usable) return refuse(usable.error(), kWrongUse);
  }
  fmt::print(stderr, "gdr run: {}\n", plan->summary);
  const Error error = replace_process(*plan, *path, options.command);
  return refuse(error, exit_status_for(error.code));
}

// --NAME and --no-NAME; the last one on the command line counts.
void add_switch(CLI::App& command, const std::string& name, std::optional<bool>& value,
                const std::string& help) {
  command
      .add_flag_callback(
          "--" + name, [&value] { value = true; }, help)
      ->trigger_on_parse();
  command.add_flag_callback("--no-" + name, [&value] { value = false; })
      ->trigger_on_parse()
      ->description("leave it as it is");
}

}  // namespace

void add_run(CLI::App& program, Action& chosen, const std::vector<std::string>& command) {
  auto options = std::make_shared<RunOptions>();
  options->command = command;
  CLI::App* run_command =
      program.add_subcommand("run", "Run an unmodified program on the software NIC and GPU");
  add_switch(*run_command, "soft-nic", options->soft_nic,
             "put the software NIC in place of libibverbs.so.1 (default: where there is no NIC)");
  add_switch(*run_command, "soft-gpu", options->soft_gpu,
             "put the software GPU in place of libcuda.so.1 and libcudart.so (default: where there "
             "is no GPU)");
  run_command->footer(
      "The command follows the options, best behind --:\n"
      "  gdr run -- ibv_devinfo -v\n"
      "Its exit status and signals are its own; 127 and 126 mean, as in a shell, not found and "
      "not\n"
      "executable, 2 that it cannot be run this way. GDR_SOFT_DEVICES and GDR_SOFT_GPUS name the\n"
      "devices; see docs/run.md.");
  run_command->callback([options, &chosen] {
    if (options->command.empty()) {
      throw CLI::ValidationError("no PROGRAM given, as in 'gdr run -- ibv_devinfo'");
    }
    chosen = [options] { return run(*options); };
  });
}

}  // namespace gdr::cli
