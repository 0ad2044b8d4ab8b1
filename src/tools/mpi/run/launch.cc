#include "mpi/run/launch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace gdr::mpi_run {
namespace {

bool has(const std::vector<std::string>& options, std::string_view beginning) {
  return std::any_of(options.begin(), options.end(),
                     [&](const std::string& one) { return one.starts_with(beginning); });
}

// Ranks on each host, the last one perhaps with fewer.
int ranks_per_host(const LaunchWishes& wishes) {
  const int hosts = static_cast<int>(wishes.hosts.size());
  return (wishes.ranks + hosts - 1) / hosts;
}

std::vector<std::string> for_open_mpi(const LaunchWishes& wishes) {
  std::vector<std::string> words = {"-n", std::to_string(wishes.ranks)};
  if (wishes.is_root) words.emplace_back("--allow-run-as-root");
  if (wishes.hosts.empty()) {
    // Two ranks are wanted on a machine with one processor, too.
    words.emplace_back("--oversubscribe");
    return words;
  }
  std::string hosts;
  for (const std::string& host : wishes.hosts) {
    hosts += fmt::format("{}{}:{}", hosts.empty() ? "" : ",", host, ranks_per_host(wishes));
  }
  words.insert(words.end(), {"--host", hosts});
  return words;
}

std::vector<std::string> for_hydra(const LaunchWishes& wishes) {
  std::vector<std::string> words = {"-n", std::to_string(wishes.ranks)};
  if (!wishes.hosts.empty()) {
    words.insert(words.end(), {"-hosts", fmt::format("{}", fmt::join(wishes.hosts, ",")), "-ppn",
                               std::to_string(ranks_per_host(wishes))});
  }
  return words;
}

std::vector<std::string> for_srun(const LaunchWishes& wishes) {
  std::vector<std::string> words = {"-n", std::to_string(wishes.ranks), "--kill-on-bad-exit=1"};
  if (!has(wishes.options, "--mpi")) words.emplace_back("--mpi=pmix");
  if (!wishes.hosts.empty()) {
    words.insert(words.end(), {"-N", std::to_string(wishes.hosts.size()), "-w",
                               fmt::format("{}", fmt::join(wishes.hosts, ","))});
  }
  return words;
}

}  // namespace

Result<std::vector<std::string>> launch_command(const Toolchain& mpi, const LaunchWishes& wishes,
                                                const std::vector<std::string>& program) {
  for (const char* number : {"-n", "-np", "--np", "-c", "--ntasks"}) {
    if (wishes.launcher == Launcher::kSrun && std::string_view(number) == "-c") continue;
    if (std::find(wishes.options.begin(), wishes.options.end(), number) != wishes.options.end()) {
      return Error{EINVAL, fmt::format("{} behind --: gdr has to know how many ranks there are; "
                                       "type -n N in front of --",
                                       number)};
    }
  }
  if (static_cast<int>(wishes.hosts.size()) > wishes.ranks) {
    return Error{EINVAL, fmt::format("{} hosts for {} ranks; type -n {}", wishes.hosts.size(),
                                     wishes.ranks, wishes.hosts.size())};
  }
  std::vector<std::string> own;
  if (wishes.launcher == Launcher::kSrun) {
    own = for_srun(wishes);
  } else {
    own = mpi.identity.family == Family::kOpenMpi ? for_open_mpi(wishes) : for_hydra(wishes);
  }
  std::vector<std::string> command = {mpi.launcher};
  command.insert(command.end(), own.begin(), own.end());
  command.insert(command.end(), wishes.options.begin(), wishes.options.end());
  command.insert(command.end(), program.begin(), program.end());
  return command;
}

}  // namespace gdr::mpi_run
