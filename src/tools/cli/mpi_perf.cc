// gdr mpi-perf: what `gdr mpi run` has the launcher start on the first two hosts, to measure with
// gdr perf between their NICs: rank 0 measures and prints one line, rank 1 serves it.
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "base/environment.h"
#include "cli/help.h"
#include "cli/interruption.h"
#include "cli/mpi_commands.h"
#include "cli/perf_values.h"
#include "mpi/run/baseline.h"
#include "version/version.h"

namespace gdr::cli {
namespace {

struct PerfRankOptions {
  mpi_run::BaselineWishes wishes;
  std::string sizes;
  bool no_host = false;
};

// As the launchers say it; nothing: none of them has started this.
std::optional<int> own_rank() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    if (const std::optional<std::string> rank = environment(name)) return std::atoi(rank->c_str());
  }
  return std::nullopt;
}

int run_side(PerfRankOptions& options) {
  // As gdr mpi-rank does: the launcher's end is this one's.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const std::atomic<bool>& interrupted = watch_interruption();
  const std::optional<int> rank = own_rank();
  if (!rank) {
    say("gdr mpi run: the launcher tells no rank");
    return 1;
  }
  if (*rank != 0) {
    const Result<void> served = mpi_run::serve_baseline(options.wishes, interrupted);
    if (!served) say("gdr mpi run: " + served.error().message);
    return served ? 0 : 1;
  }
  const mpi_run::Baseline baseline = mpi_run::measure_baseline(options.wishes, interrupted);
  fmt::print("{}\n", mpi_run::baseline_line(baseline));
  return 0;
}

}  // namespace

void add_mpi_perf(CLI::App& program, Action& chosen) {
  auto options = std::make_shared<PerfRankOptions>();
  CLI::App* side = program.add_subcommand("mpi-perf", "Started by gdr mpi run")->group("");
  mpi_run::BaselineWishes& wishes = options->wishes;
  side->add_option("--near", wishes.near);
  side->add_option("--far", wishes.far);
  side->add_option("--server", wishes.server)->required();
  side->add_option("--secret", wishes.secret)->required();
  side->add_option("--sizes", options->sizes)->required();
  side->add_flag("--no-host", options->no_host);
  side->add_flag("--gpu", wishes.gpu);
  side->add_flag("--soft-nic", wishes.soft_nic);
  side->add_flag("--soft-gpu", wishes.soft_gpu);
  side->callback([options, &chosen] {
    options->wishes.sizes = read_sizes(options->sizes);
    options->wishes.host = !options->no_host;
    options->wishes.version = program_version();
    chosen = [options] { return run_side(*options); };
  });
}

}  // namespace gdr::cli
