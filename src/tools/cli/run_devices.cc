#include "cli/run_devices.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string_view>
#include <vector>

#include "base/work_folder.h"
#include "cli/mount_devices.h"
#include "ledger/ledger.h"
#include "participants/stand_in_package.h"
#include "ports/port_folder.h"
#include "process/start.h"

namespace gdr::cli {
namespace {

namespace fs = std::filesystem;

constexpr Nanoseconds kPatience = 10 * kSecond;  // it opens each device once
constexpr const char* kFolderPrefix = "gdrkit-devices-";
constexpr std::size_t kMostWords = 4096;
constexpr int kWrongPlace = 3;  // exit status of device-files
constexpr const char* kLibrary = "/presence/libgdr-presence.so";
constexpr const char* kMachinesOwn = "/";  // GDR_PRESENCE_ROOT where the devices are mounted

// A preloaded library needs more around the devices than mounts do, and keeps the files of counters
// up to date by itself when a program opens them.
enum class FilesFor { kMounts, kMountsWithCounters, kPreload };

// What the library opens for this is not the doing of a program whose use of it is being counted.
std::vector<const char*> uncounted_environment() {
  std::vector<const char*> kept;
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string_view variable(*one, std::strcspn(*one, "="));
    if (variable != ledger::kRunVariable && variable != ledger::kWatchVariable)
      kept.push_back(*one);
  }
  kept.push_back(nullptr);
  return kept;
}

// Has the software NIC write what the kernel would show of its devices. EADDRNOTAVAIL: a device
// cannot have the place that GDR_SOFT_DEVICES says, however it is shown.
Result<void> write_files(const std::string& stand_ins, const std::string& folder,
                         FilesFor purpose) {
  process::Start start;
  start.command = {stand_ins + "/soft-nic/device-files", folder};
  start.chosen_by = process::ChosenBy::kAccount;  // a part of gdr
  if (purpose == FilesFor::kPreload) start.command.emplace_back("mirror");
  if (purpose != FilesFor::kMounts) start.command.emplace_back("counters");
  const std::vector<const char*> environment = uncounted_environment();
  start.environment = environment.data();
  const Result<process::ChildEnd> end =
      process::run(std::move(start), process::Output::kStandardOutput, kPatience, kMostWords);
  if (!end) return end.error();
  if (end->status == 0 && !end->timed_out) return {};
  const std::string words = end->output.substr(0, end->output.find('\n'));
  const bool wrong_place = WIFEXITED(end->status) && WEXITSTATUS(end->status) == kWrongPlace;
  return Error{wrong_place ? EADDRNOTAVAIL : EIO, words.empty() ? "device-files failed" : words};
}

// FNV-1a over names and contents, all counters being 0: the same devices lie in the same folder,
// whoever shows them.
std::uint64_t fingerprint_of(const std::string& folder) {
  std::uint64_t fingerprint = 0xcbf29ce484222325;
  const auto add = [&fingerprint](const std::string& text) {
    for (const char c : text) {
      fingerprint = (fingerprint ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    }
  };
  std::set<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_directory() || entry.is_symlink()) files.insert(entry.path());
  }
  for (const std::string& file : files) {
    add(file.substr(folder.size()) + '\0');
    if (fs::is_symlink(file)) {
      add(fs::read_symlink(file).string() + '\0');
    } else {
      std::ifstream stream(file);
      add(std::string(std::istreambuf_iterator<char>(stream), {}) + '\0');
    }
  }
  return fingerprint;
}

// The folder stays: the program, and what it starts, read it as long as they live, and nobody is
// there to remove it afterwards. There is one for each set of devices.
Result<std::string> keep_files(const std::string& stand_ins) {
  Result<std::string> own = ports::account_folder();
  if (!own) return own.error();
  Result<WorkFolder> made = WorkFolder::make(*own, kFolderPrefix);
  if (!made) return made.error();
  if (Result<void> written = write_files(stand_ins, made->path(), FilesFor::kPreload); !written) {
    return written.error();
  }
  const std::string kept =
      fmt::format("{}/{}{:016x}", *own, kFolderPrefix, fingerprint_of(made->path()));
  // Fails where another has been as fast.
  if (rename(made->path().c_str(), kept.c_str()) == 0) made->keep();
  std::error_code ignored;
  if (!fs::is_directory(kept, ignored)) return Error{EIO, kept + " cannot be made"};
  return kept;
}

Result<ShownDevices> show_by_mounts(const std::string& stand_ins, const char* reason_not_to,
                                    Stays stays) {
  const bool with_counters = stays == Stays::kYes;
  Result<void> mounted = mount_devices([&](const std::string& folder) {
    return write_files(stand_ins, folder,
                       with_counters ? FilesFor::kMountsWithCounters : FilesFor::kMounts);
  });
  if (!mounted) return mounted.error();
  ShownDevices shown;
  shown.words = "shown in /dev and /sys (mount namespace)";
  shown.are_shown = true;
  if (with_counters) shown.counters_below = "";
  if (reason_not_to == nullptr && fs::exists(stand_ins + kLibrary)) {
    shown.preload = stand_ins + kLibrary;
    shown.root = kMachinesOwn;
  }
  return shown;
}

Result<ShownDevices> show_by_preload(const std::string& stand_ins, const char* reason_not_to) {
  if (reason_not_to != nullptr) return Error{EINVAL, reason_not_to};
  const std::string library = stand_ins + kLibrary;
  if (!fs::exists(library)) return Error{ENOENT, participants::missing_stand_in(library)};
  Result<std::string> root = keep_files(stand_ins);
  if (!root) return root.error();
  return ShownDevices{library, *root, "shown in /dev and /sys (preload)", true, *root};
}

}  // namespace

Result<ShowBy> parse_show_by(const std::string& word) {
  if (word == "auto") return ShowBy::kAuto;
  if (word == "namespace") return ShowBy::kNamespace;
  if (word == "preload") return ShowBy::kPreload;
  if (word == "none") return ShowBy::kNothing;
  return Error{EINVAL, fmt::format("'{}': allowed are auto, namespace, preload and none", word)};
}

Result<ShownDevices> show_devices(ShowBy wish, const std::string& stand_ins,
                                  const char* reason_not_to_preload, Stays stays) {
  const auto by_preload = [&] { return show_by_preload(stand_ins, reason_not_to_preload); };
  switch (wish) {
    case ShowBy::kNothing:
      return ShownDevices{"", "", "not shown in /dev and /sys", false, {}};
    case ShowBy::kNamespace:
      return show_by_mounts(stand_ins, reason_not_to_preload, stays);
    case ShowBy::kPreload:
      return by_preload();
    case ShowBy::kAuto:
      break;
  }
  // A user namespace would give an ordinary user a mount namespace, too. But the kernel then lets
  // no two programs of his debug each other, so they could only meet by packets.
  std::string why_not = "needs root";
  if (geteuid() == 0) {
    Result<ShownDevices> shown = show_by_mounts(stand_ins, reason_not_to_preload, stays);
    if (shown || shown.error().code == EADDRNOTAVAIL) return shown;
    why_not = shown.error().message;
  }
  Result<ShownDevices> shown = by_preload();
  if (shown) {
    shown->words = fmt::format("shown in /dev and /sys (preload; a mount namespace: {})", why_not);
    return shown;
  }
  if (shown.error().code == EADDRNOTAVAIL) return shown;
  return ShownDevices{"",
                      "",
                      fmt::format("not shown in /dev and /sys (a mount namespace: {}; preload: {})",
                                  why_not, shown.error().message),
                      false,
                      {}};
}

}  // namespace gdr::cli
