// gdr watch: runs a program, and tells which way its bytes took.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <memory>

#include "base/environment.h"
#include "cli/child.h"
#include "cli/command_line.h"
#include "cli/help.h"
#include "cli/report_files.h"
#include "cli/run_exec.h"
#include "cli/run_program_file.h"
#include "cli/stand_ins.h"
#include "cli/subcommands.h"
#include "cli/this_host.h"
#include "cli/watch_plan.h"
#include "host/grade.h"
#include "host/hardware.h"
#include "host/inventory.h"
#include "process/find_program.h"
#include "text/format.h"
#include "text/live_line.h"
#include "text/style.h"
#include "text/wrap.h"
#include "watching/ledger_file.h"
#include "watching/ports.h"
#include "watching/processes.h"
#include "watching/report.h"

namespace gdr::cli {
namespace {

enum class Expected { kAnything, kGdr, kRdma };

struct WatchOptions {
  Expected expected = Expected::kAnything;
  bool json = false, quiet = false;
  ReportFiles report{{".json"}};
  std::vector<std::string> command;
};

int refuse(const std::string& reason, int status) {
  say("gdr watch: " + reason);
  return status;
}

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// One line on a terminal, written anew each second.
class ProgressLine {
 public:
  explicit ProgressLine(bool wanted) : wanted_(wanted && text::Style::of(stderr).progress) {}

  void show(const watching::Snapshot& now, double seconds) {
    if (!wanted_ || seconds < last_ + 1) return;
    std::string line = fmt::format("gdr watch: {:.0f} s", seconds);
    for (const watching::Device& one : now.devices) {
      const std::uint64_t bytes = one.all.all(), before = std::exchange(bytes_[one.name], bytes);
      line += fmt::format(
          "  {} {:.3g} MB/s", one.name,
          static_cast<double>(bytes - std::min(before, bytes)) / (seconds - last_) / 1e6);
    }
    const watching::Counts all = now.all();
    line += fmt::format("  {}, {} GPU memory", text::size_text(all.all()),
                        text::size_text(all.all_in(ledger::Memory::kGpu)));
    last_ = seconds;
    line_.show(line);
  }

 private:
  bool wanted_;
  text::LiveLine line_{stderr};
  double last_ = 0;
  std::map<std::string, std::uint64_t> bytes_;
};

void add_grades(watching::Observations& seen, const host::Inventory& machine) {
  for (const host::Gpu& gpu : machine.gpus) {
    for (const host::Nic& nic : machine.nics) {
      if (!gpu.pci || !nic.pci) continue;
      const auto path = host::path_between(machine.pci, *gpu.pci, *nic.pci);
      if (path) seen.grades[{gpu.pci_address, nic.name}] = host::name_of(*path);
    }
  }
}

// Everything but the program's status.
struct Watch {
  watching::LedgerFile file;
  host::Inventory machine = host::take_inventory();
  watching::PortCounts ports = watching::read_ports("/", machine);
  watching::PortCounts software_ports = watching::read_software_ports();
  Clock::time_point start = Clock::now();

  watching::Observations finish(std::map<pid_t, watching::SeenProcess> processes) const {
    watching::Observations seen;
    seen.seconds = seconds_since(start);
    seen.calls = watching::take_snapshot(file.ledger());
    seen.processes = std::move(processes);
    seen.has_nic = !machine.nics.empty();
    seen.soft_nic = had_library(seen.calls, seen.processes, ledger::kSoftNic);
    seen.soft_gpu = had_library(seen.calls, seen.processes, ledger::kSoftGpu);
    // A software NIC may have the name of a real one.
    if (!seen.soft_nic) {
      seen.ports = difference(ports, watching::read_ports("/", machine));
      if (!seen.soft_gpu) add_grades(seen, machine);
    } else {
      constexpr bool kNewAtZero = true;
      seen.ports = difference(software_ports, watching::read_software_ports(), kNewAtZero);
    }
    return seen;
  }
};

bool met(Expected expected, watching::Verdict verdict) {
  switch (expected) {
    case Expected::kAnything:
      return true;
    case Expected::kGdr:
      return verdict == watching::Verdict::kDirect;
    case Expected::kRdma:
      return verdict != watching::Verdict::kNone;
  }
  return true;
}

// The program's own status, unless it is 0 and the answer is not as expected or cannot be written.
int answer(const WatchOptions& options, const watching::Report& report) {
  const int status = report.seen.status, failure = status == 0 ? kFailed : status;
  const std::string document = to_json(report, provenance());
  const Result<void> written = options.report.write([&](auto) { return std::string(document); });
  if (!options.json) {
    const std::string words = text::wrap_lines(to_text(report), text::terminal_columns(stderr), 4);
    std::fputs(words.c_str(), stderr);
  } else {
    std::fputs(document.c_str(), stdout);
  }
  if (!written) return refuse(written.error().message, failure);
  return met(options.expected, report.verdict) ? status : failure;
}

int run(const WatchOptions& options) {
  const Result<std::string> path =
      process::find_program(options.command.front(), process::search_path());
  if (!path) return refuse(path.error().message, exit_status_for(path.error().code));
  const Result<ProgramFile> program = inspect_program(*path);
  if (!program) return refuse(program.error().message, exit_status_for(program.error().code));
  if (const Result<void> writable = options.report.check(); !writable) {
    return refuse(writable.error().message, kWrongUse);
  }
  const Result<std::string> stand_ins = stand_in_folder();
  if (!stand_ins) return refuse(stand_ins.error().message, kWrongUse);
  if (Result<void> usable = check_watcher(*stand_ins); !usable) {
    return refuse(usable.error().message, kWrongUse);
  }
  const Result<std::string> preload =
      watch_preload(*program, watcher_in(*stand_ins), environment("LD_PRELOAD").value_or(""));
  if (!preload) return refuse(preload.error().message, kWrongUse);
  Result<watching::LedgerFile> file = watching::LedgerFile::make();
  if (!file) return refuse(file.error().message, kFailed);

  const Watch watch{*std::move(file)};
  ChildOptions child{*path, options.command, {}, nullptr, nullptr};
  child.variables = {{"LD_PRELOAD", *preload}, {ledger::kWatchVariable, watch.file.variable()}};
  child.output_to_errors = options.json;
  std::optional<watching::Processes> processes;
  std::optional<ProgressLine> live(!options.quiet);
  child.on_tick = [&](pid_t pid) {
    if (!processes) processes.emplace(pid);
    processes->look_now_and_then();
    live->show(watching::take_snapshot(watch.file.ledger()), seconds_since(watch.start));
  };
  const Result<int> status = run_child(child);
  live.reset();
  if (!status) return refuse(status.error().message, exit_status_for(status.error().code));
  watching::Observations seen =
      watch.finish(processes ? processes->seen() : std::map<pid_t, watching::SeenProcess>());
  seen.status = *status;
  seen.program = {options.command.front(), program->kind == ProgramKind::kStatic,
                  program->privileged, program->kind == ProgramKind::kForeign};
  return answer(options, watching::judge(std::move(seen)));
}

}  // namespace

void add_watch(CLI::App& program, Action& chosen, const std::vector<std::string>& command) {
  auto options = std::make_shared<WatchOptions>();
  options->command = command;
  CLI::App* watch = program.add_subcommand(
      "watch", "Run a program and tell which way its bytes took: direct, staged, not over RDMA");
  static const std::map<std::string, Expected> kExpectations = {{"gdr", Expected::kGdr},
                                                                {"rdma", Expected::kRdma}};
  watch
      ->add_option_function<std::string>(
          "--expect",
          [options](const std::string& word) {
            const auto found = kExpectations.find(word);
            if (found == kExpectations.end()) {
              throw CLI::ValidationError("unknown expectation '" + word + "'; allowed: gdr, rdma");
            }
            options->expected = found->second;
          },
          "End with status 1 if the program succeeds, but not by GPUDirect RDMA (gdr) or not by "
          "RDMA at all (rdma)")
      ->type_name("WHAT");
  watch->add_flag("--json", options->json,
                  "Print one JSON document instead of text; the program's standard output goes to "
                  "standard error");
  options->report.add_to(*watch);
  watch->add_flag("-q,--quiet", options->quiet,
                  "No line while the program runs (default: one a second on a terminal)");
  refuse_empty_values(*watch);
  watch->callback([options, &chosen] {
    if (options->command.empty()) {
      throw CLI::ValidationError("no PROGRAM given, as in 'gdr watch -- ib_write_bw node7'");
    }
    chosen = [options] { return run(*options); };
  });
}

}  // namespace gdr::cli
