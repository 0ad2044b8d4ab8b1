// gdr mpi run: measures an MPI with a program of our own, and tells from the NICs' counters whether
// it used them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "base/printable.h"
#include "cli/command_line.h"
#include "cli/help.h"
#include "cli/interruption.h"
#include "cli/mpi_commands.h"
#include "cli/mpi_run_baseline.h"
#include "cli/mpi_run_options.h"
#include "cli/own_files.h"
#include "cli/search_folders.h"
#include "cli/this_host.h"
#include "host/hardware.h"
#include "mpi/machine.h"
#include "mpi/run/job.h"
#include "mpi/run/json_report.h"
#include "mpi/run/launch.h"
#include "mpi/run/program_output.h"
#include "mpi/run/text_report.h"
#include "mpi/run/toolchain.h"
#include "mpi/run/verdict.h"
#include "process/child.h"
#include "process/find_program.h"
#include "process/private_folder.h"
#include "text/envelope.h"
#include "text/live_line.h"
#include "text/shell_word.h"
#include "text/wrap.h"

namespace gdr::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostWordsKept = 2000;        // lines of launcher and ranks
constexpr Nanoseconds kEndPatience = 10 * kSecond;  // of the launcher, behind the last row
constexpr int kIndent = 4;

int refuse(const std::string& reason, int status) {
  say("gdr mpi run: " + printable(reason));
  return status;
}

Result<std::string> program_source() {
  const Result<std::string> folder = own_folder("share/gdrkit/mpi");
  if (!folder) return folder.error();
  std::error_code error;
  const fs::path source = fs::path(*folder) / "gdr-mpi.c";
  if (fs::exists(source, error)) return source.string();
  return Error{ENOENT, fmt::format("{} is missing; install gdrkit again", source.string())};
}

Result<void> write_reports(const MpiRunOptions& options, const mpi_run::Report& report) {
  return options.reports.write([&](std::string_view ending) {
    return ending == ".json"  ? mpi_run::to_json(report, provenance())
           : ending == ".csv" ? mpi_run::to_csv(report)
                              : mpi_run::to_html(report);
  });
}

// A tool that is not named by its path is root's only where nobody else can change it.
Result<std::string> find_tool(const MpiRunOptions& options, const std::string& name) {
  Result<std::string> path = process::find_program(name, given_path());
  if (!path || geteuid() != 0) return path;
  const bool is_named =
      name.find('/') != std::string::npos && (name == options.mpirun || name == options.mpicc);
  if (is_named) return path;
  // Also where its RUNPATH leads.
  if (const auto stranger = mpi::LivePrograms(kSecond, kSecond).stranger(*path)) {
    return process::not_started(*path, *stranger);
  }
  return path;
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
  if (end.how == How::kStopped) {
    return report.hangs_at_end ? "" : fmt::format("interrupted {}", after);
  }
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
  text::LiveLine live(stderr);
  const auto keep = [&](std::string_view line) {
    if (said.size() < kMostWordsKept) said.emplace_back(line);
    if (options.verbose) fmt::print(stderr, "{}\n", printable(line));
  };
  // All is measured and compared: a launcher that does not end now spoils nothing.
  std::optional<Nanoseconds> done_at;
  const auto stop = [&] {
    report.hangs_at_end = !interrupted.load() && done_at && now() >= *done_at + kEndPatience;
    return interrupted.load() || report.hangs_at_end;
  };
  const Result<mpi_run::JobEnd> end = mpi_run::run_job(
      command, options.limit_nanoseconds, stop,
      [&](std::string_view line) {
        if (!output.take(line)) return keep(line);
        if (output.so_far().done && !done_at) done_at = now();
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

int show(const MpiRunOptions& options, const mpi_run::Report& report) {
  const int status = report.verdict.exit_status();
  const bool failed = report.verdict.kind == mpi_run::Verdict::Kind::kFailed;
  if (options.json) {
    std::fputs(mpi_run::to_json(report, provenance()).c_str(), stdout);
  } else if (!failed) {
    const std::string text = mpi_run::to_text(report);
    std::fputs(text::wrap_lines(text, text::terminal_columns(stdout), kIndent).c_str(), stdout);
  }
  if (failed) refuse(report.verdict.headline, status);
  if (Result<void> written = write_reports(options, report); !written) {
    return refuse(written.error().message, 1);
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
  const text::Provenance made = provenance();
  report.date = made.date;
  report.version = made.version;
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
  const auto folder = process::PrivateFolder::make("mpi", where);
  if (!folder) {
    const char* const other = where.empty() ? ", or type --folder DIR" : "; type --folder DIR";
    return refuse(folder.error().message + other, 2);
  }
  const auto find = [&](const std::string& name) { return find_tool(options, name); };
  const Result<mpi_run::Toolchain> mpi = mpi_run::find_toolchain(
      {options.launch.launcher, options.mpirun, options.mpicc, find}, folder->name());
  if (!mpi) return refuse(mpi.error().message, 2);
  report.launcher = mpi->launcher;
  report.compiler = mpi->compiler;
  const Result<std::string> program = mpi_run::compile(*mpi, *source, folder->name());
  if (!program) return refuse(program.error().message, 2);
  const Result<std::vector<std::string>> command =
      launch_command(*mpi, options.launch, rank_command(options, report, *program));
  if (!command) return refuse(command.error().message, 2);
  report.command = text::shell_words(*command);
  const Nanoseconds start = now();
  if (Result<void> ran = run_program(options, *command, interrupted, report); !ran) {
    return refuse(ran.error().message, 2);
  }
  if (report.failure.empty()) add_mpi_baseline(options, *mpi, folder->name(), interrupted, report);
  report.seconds = static_cast<double>(now() - start) / 1e9;
  report.verdict = mpi_run::judge(report);
  return show(options, report);
}

}  // namespace

void add_mpi_run(CLI::App& mpi, Action& chosen) {
  auto options = std::make_shared<MpiRunOptions>();
  CLI::App* run_command = mpi.add_subcommand(
      "run", "Measure an MPI with host and GPU memory, and tell whether it used the NIC");
  add_mpi_run_options(*run_command, *options);
  refuse_empty_values(*run_command);
  run_command->callback([options, &chosen] {
    read_mpi_run_values(*options);
    chosen = [options] { return run(*options); };
  });
}

}  // namespace gdr::cli
