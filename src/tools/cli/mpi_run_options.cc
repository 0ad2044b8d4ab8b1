#include "cli/mpi_run_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>

#include "base/environment.h"
#include "cli/help.h"
#include "cli/perf_values.h"
#include "mpi/run/report.h"

namespace gdr::cli {
namespace {

constexpr std::uint64_t kLargest = std::uint64_t{1} << 30;

void read_memory_kinds(MpiRunOptions& options) {
  for (const std::string_view kind : split(options.memory, ',')) {
    if (kind == "host") {
      options.wants_host = true;
    } else if (kind == "gpu") {
      options.wants_gpu = true;
    } else {
      throw CLI::ValidationError(
          fmt::format("unknown memory '{}' in --memory; allowed: host, gpu", kind));
    }
  }
}

void check_measures(const std::string& list) {
  std::vector<std::string> names;
  for (int i = 0; i < mpi_run::kMeasures; ++i) {
    names.emplace_back(mpi_run::name_of(static_cast<mpi_run::Measure>(i)));
  }
  if (list.empty()) return;
  for (const std::string_view one : split(list, ',')) {
    if (std::find(names.begin(), names.end(), one) != names.end()) continue;
    throw CLI::ValidationError(
        fmt::format("unknown measure '{}' in --measure; allowed: {}", one, fmt::join(names, ", ")));
  }
}

void check_word(const char* option, const std::string& word,
                const std::vector<std::string>& allowed) {
  if (std::find(allowed.begin(), allowed.end(), word) != allowed.end()) return;
  throw CLI::ValidationError(
      fmt::format("unknown {} '{}'; allowed: {}", option, word, fmt::join(allowed, ", ")));
}

}  // namespace

void read_mpi_run_values(MpiRunOptions& options) {
  if (options.soft && options.require_hardware) {
    throw CLI::ValidationError("--soft and --require-hardware exclude each other");
  }
  check_word("--launcher", options.launcher, {"mpirun", "srun"});
  check_word("--gpu-pointers", options.gpu_pointers, {"auto", "yes", "no"});
  read_memory_kinds(options);
  check_measures(options.measures);
  if (!options.sizes.empty()) options.size_list = read_sizes(options.sizes);
  for (const std::uint64_t size : options.size_list) {
    if (size == 0 || size > kLargest) {
      throw CLI::ValidationError(fmt::format("--sizes: {} is not from 1 to 1G", size));
    }
  }
  options.duration_nanoseconds = read_nanoseconds("--duration", options.duration);
  options.limit_nanoseconds = read_nanoseconds("--time-limit", options.time_limit);
  if (options.limit_nanoseconds == 0) {
    throw CLI::ValidationError("--time-limit must be greater than 0");
  }
  mpi_run::LaunchWishes& launch = options.launch;
  const bool by_srun = options.launcher == "srun";
  if (by_srun && !options.mpirun.empty()) {
    throw CLI::ValidationError("--launcher srun and --mpirun exclude each other");
  }
  launch.launcher = by_srun ? mpi_run::Launcher::kSrun : mpi_run::Launcher::kMpirun;
  launch.ranks = static_cast<int>(options.ranks);
  launch.hosts = read_names(options.hosts);
  launch.options = options.launcher_options;
  launch.is_root = geteuid() == 0;
}

void add_mpi_run_options(CLI::App& run_command, MpiRunOptions& options) {
  const auto add = [&](const char* name, auto& value, const char* type, const char* help) {
    return run_command.add_option(name, value, help)->type_name(type);
  };
  begin_group(run_command, "Ranks");
  add("-n,--ranks", options.ranks, "N", "Ranks, 2 to 4096 (default: 2)")
      ->check(CLI::Range(2, 4096));
  add("--hosts", options.hosts, "LIST",
      "Hosts of the ranks, such as node1,node2 (default: the launcher's choice)");
  add("--launcher", options.launcher, "NAME", "mpirun or srun (default: mpirun)");
  add("--mpirun", options.mpirun, "FILE", "The launcher's file (default: mpirun in PATH)");
  add("--mpicc", options.mpicc, "FILE",
      "The compiler's file (default: the one beside mpirun, then mpicc in PATH)");
  add("--folder", options.folder, "DIR",
      "Where the program is compiled, and started on every host (default: TMPDIR; with --hosts or "
      "srun the current folder)");
  add("OPTIONS", options.launcher_options, "",
      "Options of the launcher, behind --, such as -- --mca pml ucx");
  begin_group(run_command, "Measurement");
  add("--measure", options.measures, "LIST",
      "latency, bandwidth, bidirectional, multi-pair (4 ranks or more), all-reduce, all-to-all "
      "(default: all)");
  add("--sizes", options.sizes, "LIST",
      "Bytes per message, such as 64,4K; 64-1M means every power of two (default: "
      "8,4K,64K,1M,4M)");
  add("--memory", options.memory, "LIST", "Memory of the messages: host, gpu (default: host,gpu)");
  add("--gpu-pointers", options.gpu_pointers, "WHEN",
      "Give MPI addresses of GPU memory: auto (if it says that it can), yes, no (default: auto)");
  add("--repeats", options.repeats, "N", "Repetitions per row, 1 to 100 (default: 5)")
      ->check(CLI::Range(1, 100));
  add("--duration", options.duration, "SECONDS",
      "Time per row, all repetitions together, such as 0.2 or 500ms (default: 0.2)");
  add("--time-limit", options.time_limit, "TIME",
      "Most time that all rows may take, such as 90s or 10m (default: 5m)");
  run_command.add_flag("--no-perf", options.no_perf,
                       "Do not measure the same with gdr perf for comparison");
  begin_group(run_command, "Common");
  run_command.add_flag("--soft", options.soft,
                       "Use the stand-ins (software NIC and GPU) even if there is hardware "
                       "(default: only for what is missing)");
  run_command.add_flag("--require-hardware", options.require_hardware,
                       "Fail instead of using a stand-in");
  run_command.add_flag("--json", options.json, "Print one JSON document instead of text");
  options.reports.add_to(run_command, ".json; .csv, a line a row; .html, a page for a ticket");
  run_command.add_flag("-v,--verbose", options.verbose,
                       "Also print what the launcher and the ranks say");
}

}  // namespace gdr::cli
