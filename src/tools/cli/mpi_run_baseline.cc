#include "cli/mpi_run_baseline.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <random>

#include "base/output_file.h"
#include "base/unique_fd.h"
#include "mpi/run/baseline.h"
#include "mpi/run/job.h"
#include "mpi/run/launch.h"

namespace gdr::cli {
namespace {

namespace fs = std::filesystem;

constexpr Nanoseconds kPerfLimit = 120 * kSecond;  // of gdr perf between hosts

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
  const auto keep = [&](std::string_view line) { said.emplace_back(line); };
  const Result<mpi_run::JobEnd> end = mpi_run::run_job(
      *command, kPerfLimit,
      // The server would wait for the next client.
      [&] { return came || interrupted.load(); },
      [&](std::string_view line) {
        Result<mpi_run::Baseline> read = mpi_run::read_baseline(line);
        if (!read) return keep(line);
        baseline = *std::move(read);
        came = true;
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

}  // namespace

void add_mpi_baseline(const MpiRunOptions& options, const mpi_run::Toolchain& mpi,
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

}  // namespace gdr::cli
