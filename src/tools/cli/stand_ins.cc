#include "cli/stand_ins.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/environment.h"
#include "cli/own_files.h"
#include "participants/stand_in_package.h"
#include "process/start.h"

namespace gdr::cli {
namespace {

namespace fs = std::filesystem;

// At most this much of what a checker says is repeated.
constexpr std::size_t kMostSaid = 4096;
constexpr Nanoseconds kCheckPatience = 10 * kSecond;  // it reads some variables

// Runs `program`; the first line of what it wrote on standard output if it ended with a status
// other than 0.
Result<std::string> complaint_of(const std::string& program) {
  process::Start start;
  start.command = {program};
  start.chosen_by = process::ChosenBy::kAccount;  // a part of gdr
  const Result<process::ChildEnd> end =
      process::run(std::move(start), process::Output::kStandardOutput, kCheckPatience, kMostSaid);
  if (!end) return end.error();
  if (end->status == 0 && !end->timed_out) return std::string();
  const std::string words = end->output.substr(0, end->output.find('\n'));
  return words.empty() ? fmt::format("{} failed", program) : words;
}

// A library neither prints nor exits and exports nothing that the real one does not, so a small
// program beside each stand-in says what is wrong with its variables. Without any of them there is
// nothing to ask.
Result<void> check(const std::string& folder, const char* library,
                   std::initializer_list<const char*> variables) {
  if (!fs::exists(fs::path(folder) / library)) {
    return Error{ENOENT, participants::missing_stand_in(fmt::format("{}/{}", folder, library))};
  }
  if (std::none_of(variables.begin(), variables.end(),
                   [](const char* name) { return environment(name).has_value(); })) {
    return {};
  }
  Result<std::string> complaint = complaint_of(folder + "/check-configuration");
  if (!complaint) return complaint.error();
  if (!complaint->empty()) return Error{EINVAL, *complaint};
  return {};
}

}  // namespace

Result<std::string> stand_in_folder() { return own_folder("lib/gdrkit"); }

Result<void> check_soft_nic(const std::string& folder) {
  return check(folder + "/soft-nic", "libibverbs.so.1",
               {"GDR_SOFT_DEVICES", "GDR_SOFT_PATH", "GDR_SOFT_PCAP", "GDR_SOFT_FAULTS",
                "GDR_SOFT_COUNTERS"});
}

Result<void> check_soft_gpu(const std::string& folder) {
  return check(folder + "/soft-gpu", "libcuda.so.1", {"GDR_SOFT_GPUS", "GDR_SOFT_DMA_BUF"});
}

Result<void> check_observer(const std::string& folder) {
  return check(folder + "/observe", "libgdr-observe.so", {});
}

std::string watcher_in(const std::string& folder) { return folder + "/watch/libgdr-watch.so"; }

Result<void> check_watcher(const std::string& folder) {
  return check(folder + "/watch", "libgdr-watch.so", {});
}

}  // namespace gdr::cli
