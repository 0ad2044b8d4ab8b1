#include "watching/processes.h"

#include <dirent.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <vector>

#include "base/printable.h"
#include "ledger/libraries.h"
#include "watching/attached_memory.h"

namespace gdr::watching {
namespace {

namespace fs = std::filesystem;

constexpr int kDeepest = 64;
constexpr std::size_t kMostSeen = 1024;
constexpr std::size_t kMostDescriptors = 4096;

std::string contents(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

// The inodes of the network's established TCP connections, as far as they leave a process.
std::set<std::string> established(const std::string& folder) {
  std::set<std::string> inodes;
  for (const char* family : {"/net/tcp", "/net/tcp6"}) {
    std::istringstream lines(contents(folder + family));
    std::string line;
    std::getline(lines, line);  // headings
    while (std::getline(lines, line)) {
      std::istringstream words(line);
      std::string word;
      constexpr int kState = 3, kInode = 9;
      bool is_established = false;
      for (int i = 0; i <= kInode && words >> word; ++i) {
        if (i == kState) is_established = word == "01";
        if (i == kInode && is_established) inodes.insert(word);
      }
    }
  }
  return inodes;
}

std::uint32_t connections_of(const std::string& folder) {
  std::vector<std::string> sockets;
  std::error_code error;
  for (fs::directory_iterator entry(folder + "/fd", error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string target = fs::read_symlink(entry->path(), error).string();
    error.clear();
    constexpr std::string_view kSocket = "socket:[";
    if (target.starts_with(kSocket)) {
      sockets.push_back(target.substr(kSocket.size(), target.size() - kSocket.size() - 1));
    }
    if (sockets.size() >= kMostDescriptors) break;
  }
  if (sockets.empty()) return 0;
  const std::set<std::string> inodes = established(folder);
  return static_cast<std::uint32_t>(std::count_if(
      sockets.begin(), sockets.end(), [&](const auto& one) { return inodes.contains(one); }));
}

// glibc's names of the dynamic loader, on each processor.
bool has_loader(const std::string& maps) {
  return maps.find("/ld-linux") != std::string::npos || maps.find("/ld-2.") != std::string::npos ||
         maps.find("/ld.so") != std::string::npos || maps.find("/ld-musl") != std::string::npos;
}

// A user or group in effect that is not the real one: set-user-ID, set-group-ID.
bool has_gained_rights(const std::string& status) {
  std::istringstream lines(status);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("Uid:") && !line.starts_with("Gid:")) continue;
    std::istringstream words(line.substr(4));
    std::string real, effective;
    if (words >> real >> effective && real != effective) return true;
  }
  return false;
}

}  // namespace

std::uint64_t libraries_in(const std::string& maps) { return ledger::libraries_of(maps); }

void Processes::look() { look_at(first_, 0); }

void Processes::look_now_and_then() {
  constexpr std::chrono::milliseconds kLongest{10'000};
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  look();
  next_ = now + pause_;
  pause_ = std::min(2 * pause_, kLongest);
}

void Processes::look_at(pid_t pid, int depth) {
  if (depth > kDeepest || (seen_.size() >= kMostSeen && !seen_.contains(pid))) return;
  const std::string folder = fmt::format("{}/{}", proc_, pid);
  const std::string maps = contents(folder + "/maps");
  SeenProcess& one = seen_[pid];
  std::string name = contents(folder + "/comm");
  if (!name.empty()) one.program = printable(name.substr(0, name.find('\n')));
  if (!maps.empty()) {
    one.readable = true;
    one.is_static = !has_loader(maps);
    one.libraries |= libraries_in(maps);
    one.watched = one.watched || maps.find("/libgdr-watch.so") != std::string::npos;
    one.connections = std::max(one.connections, connections_of(folder));
    if (!one.shares_ucx_memory && (one.libraries & ledger::kUcx) != 0) {
      // Twice in a row: while a process lets go of its own memory, it looks like another's.
      const bool has = has_attached(maps, pid, proc_);
      one.shares_ucx_memory = has && one.had_attached;
      one.had_attached = has;
    }
  }
  one.gained_rights = one.gained_rights || has_gained_rights(contents(folder + "/status"));
  std::error_code error;
  for (fs::directory_iterator task(folder + "/task", error), end; !error && task != end;
       task.increment(error)) {
    std::istringstream children(contents(task->path().string() + "/children"));
    for (pid_t child = 0; children >> child;) look_at(child, depth + 1);
  }
}

}  // namespace gdr::watching
