// gdr mpi run: measures an MPI with a program of our own, and tells from the NICs' counters whether
// it used them.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <memory>
#include <random>

#include "base/environment.h"
#include "base/output_file.h"
#include "base/printable.h"
#include "base/unique_fd.h"
#include "cli/command_line.h"
#include "cli/help.h"
#include "cli/interruption.h"
#include "cli/mpi_commands.h"
#include "cli/perf_values.h"
#include "cli/private_folder.h"
#include "cli/report_files.h"
#include "cli/run_program_file.h"
#include "cli/this_host.h"
#include "host/hardware.h"
#include "mpi/run/baseline.h"
#include "mpi/run/job.h"
#include "mpi/run/json_report.h"
#include "mpi/run/launch.h"
#include "mpi/run/program_output.h"
#include "mpi/run/text_report.h"
#include "mpi/run/toolchain.h"
#include "mpi/run/verdict.h"
#include "process/child.h"
#include "text/envelope.h"
#include "text/style.h"
#include "text/wrap.h"
#include "version/version.h"

namespace gdr::cli {
namespace {

namespace fs = std::filesystem;

struct MpiRunOptions {
  std::uint32_t ranks = 2, repeats = 5;
  std::string hosts, launcher = "mpirun", mpirun, mpicc, sizes, measures, memory = "host,gpu";
  std::string gpu_pointers = "auto", duration = "0.2", time_limit = "5m", folder;
  std::vector<std::string> launcher_options;
  ReportFiles reports{{".json", ".csv", ".html"}};
  bool soft = false, require_hardware = false, no_perf = false, json = false, verbose = false;

  // Read from the above.
  std::vector<std::uint64_t> size_list{8, 4096, 65536, 1 << 20, 4 << 20};
  std::uint64_t duration_nanoseconds = 0, limit_nanoseconds = 0;
  bool wants_host = false, wants_gpu = false;
  mpi_run::LaunchWishes launch;
};

constexpr std::size_t kMostWordsKept = 2000;       // lines of launcher and ranks
constexpr Nanoseconds kPerfLimit = 120 * kSecond;  // of gdr perf between hosts
constexpr std::uint64_t kLargest = std::uint64_t{1} << 30;
constexpr int kIndent = 4;

int refuse(const std::string& reason, int status) {
  say("gdr mpi run: " + printable(reason));
  return status;
}

// ../share/gdrkit/mpi beside the folder of this program: built and installed trees look alike.
Result<std::string> program_source() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error) return Error{error.value(), "cannot read /proc/self/exe; is /proc mounted?"};
  const fs::path source = self.parent_path().parent_path() / "share/gdrkit/mpi/gdr-mpi.c";
  if (fs::exists(source, error)) return source.string();
  return Error{ENOENT, fmt::format("{} is missing; install gdrkit again", source.string())};
}

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

// Every value is judged here, so that wrong use costs nothing but its one line.
void read_values(MpiRunOptions& options) {
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

// Which gdr made the document, where and when.
text::Provenance made_by(const mpi_run::Report& report) {
  // "0.2.0+5.g7a19af9.dirty"
  const std::size_t at = report.version.find_last_of("+.", report.version.rfind('g'));
  const bool has_commit =
      at != std::string::npos && at + 1 < report.version.size() && report.version[at + 1] == 'g';
  std::string commit = has_commit ? report.version.substr(at + 2) : "unknown";
  if (commit.ends_with(".dirty")) commit.replace(commit.size() - 6, 1, "-");
  return {report.version, commit, name_of_this_host(), report.date};
}

Result<void> write_reports(const MpiRunOptions& options, const mpi_run::Report& report) {
  return options.reports.write([&](std::string_view ending) {
    return ending == ".json"  ? mpi_run::to_json(report, made_by(report))
           : ending == ".csv" ? mpi_run::to_csv(report)
                              : mpi_run::to_html(report);
  });
}

std::vector<std::string> rank_command(const MpiRunOptions& options, const mpi_run::Report& report,
                                      const std::string& program) {
  std::error_code error;
  std::vector<std::string> words = {fs::read_symlink("/proc/self/exe", error), "mpi-rank"};
  if (report.soft_nic) words.emplace_back("--soft-nic");
  if (report.soft_gpu) words.emplace_back("--soft-gpu");
  std::string measures = options.measures;
  for (int i = 0; options.measures.empty() && i < mpi_run::kMeasures; ++i) {
    measures += (i == 0 ? "" : ",") + std::string(name_of(static_cast<mpi_run::Measure>(i)));
  }
  const std::vector<std::string> rest = {
      "--",
      program,
      "--ranks",
      std::to_string(options.ranks),
      "--sizes",
      fmt::format("{}", fmt::join(options.size_list, ",")),
      "--measures",
      measures,
      "--memory",
      options.memory,
      "--gpu-pointers",
      options.gpu_pointers,
      "--repeats",
      std::to_string(options.repeats),
      "--seconds",
      fmt::format("{}", static_cast<double>(options.duration_nanoseconds) / 1e9)};
  words.insert(words.end(), rest.begin(), rest.end());
  return words;
}

// The last line of a terminal, while rows come.
class LiveLine {
 public:
  LiveLine() : wanted_(text::Style::of(stderr).progress) {}
  ~LiveLine() {
    if (shown_) fmt::print(stderr, "\r\x1b[K");
  }
  LiveLine(const LiveLine&) = delete;
  LiveLine& operator=(const LiveLine&) = delete;
  void show(const std::string& words) {
    if (!wanted_) return;
    shown_ = true;
    fmt::print(stderr, "\r\x1b[K{}", words);
    std::fflush(stderr);
  }

 private:
  bool wanted_, shown_ = false;
};

// How the job ended, where it should not have; empty: well.
std::string failure_of(const MpiRunOptions& options, const mpi_run::Report& report,
                       const mpi_run::JobEnd& end, const std::vector<std::string>& said) {
  const std::size_t rows = report.program.rows.size();
  const std::string after = fmt::format("after {} {}", rows, rows == 1 ? "row" : "rows");
  const std::string& name = report.launcher;
  using How = mpi_run::JobEnd::How;
  if (end.how == How::kTimedOut) {
    return fmt::format(
        "{} had not ended within {}, {}; it was ended with all that it had started; "
        "--time-limit TIME allows more",
        name, options.time_limit, after);
  }
  if (end.how == How::kInterrupted) return fmt::format("interrupted {}", after);
  const std::string& problem = report.program.problem;
  // Open MPI, started by Slurm without its PMI, ends with a page of text about that.
  const bool by_srun = options.launch.launcher == mpi_run::Launcher::kSrun;
  const bool lacks_pmi =
      by_srun && rows == 0 && std::any_of(said.begin(), said.end(), [](const std::string& line) {
        return line.find("PMI support") != std::string::npos;
      });
  if (problem.starts_with("alone: ") || lacks_pmi) {
    return fmt::format(
        "{} started {} ranks that do not find each other: it and {} do not belong "
        "together{}",
        name, options.ranks, report.compiler,
        by_srun ? "; type srun --mpi=list, and choose with -- --mpi=NAME" : "");
  }
  if (!problem.empty()) return fmt::format("{}: {}", name, problem);
  if (end.status == 0 && report.program.done) return "";
  const std::string telling = mpi_run::telling_line(said);
  const bool may_be_gpu_memory = options.gpu_pointers == "yes" && options.wants_gpu;
  return fmt::format("{} ended {} with {}{}{}{}", name, after, process::status_text(end.status),
                     telling.empty() ? "" : ": ", telling,
                     may_be_gpu_memory
                         ? "; an MPI without CUDA ends like this when it is given GPU "
                           "memory: leave out --gpu-pointers yes"
                         : "");
}

// Runs the job; an error is that of starting it.
Result<void> run_program(const MpiRunOptions& options, const std::vector<std::string>& command,
                         const std::atomic<bool>& interrupted, mpi_run::Report& report) {
  mpi_run::ProgramOutput output;
  std::vector<std::string> said;
  LiveLine live;
  const auto keep = [&](std::string_view line) {
    if (said.size() < kMostWordsKept) said.emplace_back(line);
    if (options.verbose) fmt::print(stderr, "{}\n", printable(line));
  };
  const Result<mpi_run::JobEnd> end = mpi_run::run_job(
      command, options.limit_nanoseconds, interrupted,
      [&](std::string_view line) {
        if (!output.take(line)) return keep(line);
        const auto& rows = output.so_far().rows;
        if (!rows.empty()) {
          live.show(fmt::format("gdr mpi run: {} of {} B, {} to {}", name_of(rows.back().measure),
                                rows.back().size, name_of(rows.back().from),
                                name_of(rows.back().to)));
        }
      },
      keep);
  if (!end) return end.error();
  report.program = output.finish();
  report.failure = failure_of(options, report, *end, said);
  return {};
}

mpi_run::BaselineWishes baseline_wishes(const MpiRunOptions& options,
                                        const mpi_run::Report& report) {
  mpi_run::BaselineWishes wishes;
  wishes.sizes = options.size_list;
  wishes.host = options.wants_host;
  wishes.gpu = options.wants_gpu && report.program.gpus;
  wishes.soft_nic = report.soft_nic;
  wishes.soft_gpu = report.soft_gpu;
  wishes.version = report.version;
  return wishes;
}

// A text that only this account's processes know, in a folder that both hosts see.
Result<std::string> make_secret(const std::string& folder) {
  const std::string file = folder + "/secret";
  std::random_device random;
  std::string text;
  for (int i = 0; i < 8; ++i) text += fmt::format("{:08x}", random());
  const Result<UniqueFd> opened = open_output(file, Existing::kRefuse, 0600);
  if (!opened) return opened.error();
  if (!write_whole(opened->get(), text + "\n")) return from_errno(file);
  return file;
}

// By the launcher, on the first two hosts: one measures, the other one serves it.
mpi_run::Baseline baseline_between_hosts(const MpiRunOptions& options,
                                         const mpi_run::Toolchain& mpi, const std::string& folder,
                                         const std::atomic<bool>& interrupted,
                                         const mpi_run::Report& report) {
  mpi_run::Baseline baseline;
  const Result<std::string> secret = make_secret(folder);
  if (!secret) {
    baseline.problem = secret.error().message;
    return baseline;
  }
  const mpi_run::UsedNics used = mpi_run::used_nics_of_two_hosts(report.program);
  const std::vector<std::string>& hosts =
      options.launch.hosts.size() > 1 ? options.launch.hosts : report.program.hosts;
  mpi_run::LaunchWishes launch = options.launch;
  launch.ranks = 2;
  launch.hosts = {hosts[0], hosts[1]};
  std::error_code error;
  std::vector<std::string> words = {fs::read_symlink("/proc/self/exe", error),
                                    "mpi-perf",
                                    "--server",
                                    hosts[1],
                                    "--secret",
                                    *secret,
                                    "--sizes",
                                    fmt::format("{}", fmt::join(options.size_list, ","))};
  if (!used.near.empty()) words.insert(words.end(), {"--near", used.near, "--far", used.far});
  if (!options.wants_host) words.emplace_back("--no-host");
  if (options.wants_gpu && report.program.gpus) words.emplace_back("--gpu");
  if (report.soft_nic) words.emplace_back("--soft-nic");
  if (report.soft_gpu) words.emplace_back("--soft-gpu");
  const Result<std::vector<std::string>> command = launch_command(mpi, launch, words);
  if (!command) {
    baseline.problem = command.error().message;
    return baseline;
  }
  std::vector<std::string> said;
  bool came = false;
  std::atomic<bool> enough = false;
  const auto keep = [&](std::string_view line) {
    if (interrupted.load()) enough.store(true);
    said.emplace_back(line);
  };
  const Result<mpi_run::JobEnd> end = mpi_run::run_job(
      *command, kPerfLimit, enough,
      [&](std::string_view line) {
        Result<mpi_run::Baseline> read = mpi_run::read_baseline(line);
        if (!read) return keep(line);
        baseline = *std::move(read);
        came = true;
        enough.store(true);  // the server would wait for the next client
      },
      keep);
  if (!end) {
    baseline.problem = end.error().message;
  } else if (!came) {
    const std::string telling = mpi_run::telling_line(said);
    baseline.problem = telling.empty() ? "gdr perf gave no answer" : telling;
  }
  return baseline;
}

void add_baseline(const MpiRunOptions& options, const mpi_run::Toolchain& mpi,
                  const std::string& folder, const std::atomic<bool>& interrupted,
                  mpi_run::Report& report) {
  if (options.no_perf) {
    report.baseline.problem = "--no-perf";
    return;
  }
  if (report.program.hosts.size() > 1) {
    report.baseline = baseline_between_hosts(options, mpi, folder, interrupted, report);
    return;
  }
  mpi_run::BaselineWishes wishes = baseline_wishes(options, report);
  const mpi_run::UsedNics used = mpi_run::used_nics(report.program);
  wishes.near = used.near;
  wishes.far = used.far;
  report.baseline = mpi_run::measure_baseline(wishes, interrupted);
}

int show(const MpiRunOptions& options, const mpi_run::Report& report) {
  const int status = report.verdict.exit_status();
  const bool failed = report.verdict.kind == mpi_run::Verdict::Kind::kFailed;
  if (options.json) {
    std::fputs(mpi_run::to_json(report, made_by(report)).c_str(), stdout);
  } else if (!failed) {
    const std::string text = mpi_run::to_text(report);
    std::fputs(text::wrap_lines(text, text::terminal_columns(stdout), kIndent).c_str(), stdout);
  }
  if (failed) refuse(report.verdict.headline, status);
  if (Result<void> written = write_reports(options, report); !written) {
    return refuse(written.error().message, 1);
  }
  // A verdict that nobody could read is none.
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    return refuse("cannot write the report to standard output", 1);
  }
  return status;
}

int run(MpiRunOptions& options) {
  if (Result<void> writable = options.reports.check(); !writable) {
    return refuse(writable.error().message, 2);
  }
  mpi_run::Report report;
  report.soft_nic = options.soft || !host::has_rdma_nic();
  report.soft_gpu = options.wants_gpu && (options.soft || !host::has_gpu());
  if (options.require_hardware && (report.soft_nic || report.soft_gpu)) {
    return refuse(fmt::format("this host has no {}, and --require-hardware is given",
                              report.soft_nic ? "RDMA NIC" : "GPU"),
                  1);
  }
  report.date = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  report.version = program_version();
  report.wants_host = options.wants_host;
  report.wants_gpu = options.wants_gpu;
  const std::atomic<bool>& interrupted = watch_interruption();
  const Result<std::string> source = program_source();
  if (!source) return refuse(source.error().message, 2);
  // Other hosts see a folder of this account's rather than one of this machine's.
  const bool elsewhere = options.launcher == "srun" || !options.launch.hosts.empty();
  std::error_code error;
  const std::string where =
      options.folder.empty() && elsewhere ? fs::current_path(error).string() : options.folder;
  const PrivateFolder folder("mpi", where);
  if (folder.name().empty()) return refuse(folder.complaint() + "; type --folder DIR", 2);
  const auto find = [](const std::string& name) {
    return find_program(name, environment("PATH").value_or(kDefaultPath));
  };
  const Result<mpi_run::Toolchain> mpi = mpi_run::find_toolchain(
      {options.launch.launcher, options.mpirun, options.mpicc, find}, folder.name());
  if (!mpi) return refuse(mpi.error().message, 2);
  report.launcher = mpi->launcher;
  report.compiler = mpi->compiler;
  const Result<std::string> program = mpi_run::compile(*mpi, *source, folder.name());
  if (!program) return refuse(program.error().message, 2);
  const Result<std::vector<std::string>> command =
      launch_command(*mpi, options.launch, rank_command(options, report, *program));
  if (!command) return refuse(command.error().message, 2);
  report.command = fmt::format("{}", fmt::join(*command, " "));
  const Nanoseconds start = now();
  if (Result<void> ran = run_program(options, *command, interrupted, report); !ran) {
    return refuse(ran.error().message, 2);
  }
  if (report.failure.empty()) add_baseline(options, *mpi, folder.name(), interrupted, report);
  report.seconds = static_cast<double>(now() - start) / 1e9;
  report.verdict = mpi_run::judge(report);
  return show(options, report);
}

void add_options(CLI::App& run_command, MpiRunOptions& options) {
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

}  // namespace

void add_mpi_run(CLI::App& mpi, Action& chosen) {
  auto options = std::make_shared<MpiRunOptions>();
  CLI::App* run_command = mpi.add_subcommand(
      "run", "Measure an MPI with host and GPU memory, and tell whether it used the NIC");
  add_options(*run_command, *options);
  refuse_empty_values(*run_command);
  run_command->callback([options, &chosen] {
    read_values(*options);
    chosen = [options] { return run(*options); };
  });
}

}  // namespace gdr::cli
