#include "ports/port_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <string_view>

#include "base/environment.h"
#include "base/output_walk.h"

namespace gdr::ports {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "ports-";
constexpr time_t kUnusedFor = 7 * 24 * 3600;  // seconds
constexpr std::size_t kGuidDigits = 16;

bool is_own_folder(const std::string& folder) {
  struct stat status {};
  return lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         status.st_uid == geteuid() && !others_write(status);
}

bool make_own(const std::string& folder) {
  return (mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) && is_own_folder(folder);
}

void sweep(const std::string& account_folder, const std::string& own) {
  std::error_code error;
  for (fs::directory_iterator entry(account_folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string folder = entry->path();
    struct stat status {};
    if (!entry->path().filename().string().starts_with(kPrefix) || folder == own ||
        !is_own_folder(folder) || stat(folder.c_str(), &status) != 0 ||
        time(nullptr) - status.st_mtime < kUnusedFor) {
      continue;
    }
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }
}

}  // namespace

Result<std::string> account_folder() {
  const std::string given = environment("XDG_RUNTIME_DIR").value_or("");
  if (given.starts_with('/') && is_own_folder(given)) return given;
  const std::string folder = "/tmp/gdrkit-" + std::to_string(geteuid());
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return from_errno(folder);
  if (!is_own_folder(folder)) return Error{EPERM, folder + " belongs to another account"};
  return folder;
}

std::string port_folder(const std::string& account_folder) {
  struct stat status {};
  if (account_folder.empty() || stat("/proc/self/ns/net", &status) != 0) return {};
  // As the sockets of the software NIC lie: in a folder of its name where others' things are.
  const bool is_ours = account_folder.starts_with("/tmp/gdrkit-");
  const std::string parent = is_ours ? account_folder : account_folder + "/gdrkit";
  std::string folder = parent + "/" + std::string(kPrefix) + std::to_string(status.st_ino);
  if (!make_own(parent) || !make_own(folder)) return {};
  // It is in use.
  utimensat(AT_FDCWD, folder.c_str(), nullptr, 0);
  sweep(parent, folder);
  return folder;
}

std::vector<NamedPort> read_ports(const std::string& folder) {
  std::vector<NamedPort> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    NamedPort port;
    port.file = entry->path().filename();
    if (port.file.size() <= kGuidDigits + 1 ||
        !read_port(folder.c_str(), port.file.c_str(), &port.values)) {
      continue;
    }
    port.name = port.file.substr(0, port.file.size() - kGuidDigits - 1);
    found.push_back(std::move(port));
  }
  std::sort(found.begin(), found.end(),
            [](const NamedPort& one, const NamedPort& other) { return one.file < other.file; });
  return found;
}

}  // namespace gdr::ports
