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
#include "ledger/ledger.h"
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

}  // namespace

std::uint64_t libraries_in(const std::string& maps) {
  struct Known {
    const char* part;
    std::uint64_t flag;
  };
  static constexpr Known kKnown[] = {
      {"/libibverbs.so", ledger::kVerbs},
      {"/librdmacm.so", ledger::kManager},
      {"/libmlx5", ledger::kMlx5},
      {"/libuct.so", ledger::kUcx},
      {"/libuct_ib", ledger::kUcxIb},
      {"/libfabric.so", ledger::kFabric},
      {"/libmpi", ledger::kMpi},
      {"/libnccl.so", ledger::kNccl},
      {"/libnvshmem", ledger::kNvshmem},
      {"/libcuda.so", ledger::kCuda},
      {"/gdrkit/soft-nic/", ledger::kSoftNic},
      {"/gdrkit/soft-gpu/", ledger::kSoftGpu},
  };
  std::uint64_t flags = 0;
  for (const Known& known : kKnown) {
    if (maps.find(known.part) != std::string::npos) flags |= known.flag;
  }
  return flags;
}

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
    one.libraries |= libraries_in(maps);
    one.watched = one.watched || maps.find("/libgdr-watch.so") != std::string::npos;
    one.connections = std::max(one.connections, connections_of(folder));
    if (!one.shares_ucx_memory && (one.libraries & ledger::kUcx) != 0) {
      one.shares_ucx_memory = has_attached(maps, pid, proc_);
    }
  }
  std::error_code error;
  for (fs::directory_iterator task(folder + "/task", error), end; !error && task != end;
       task.increment(error)) {
    std::istringstream children(contents(task->path().string() + "/children"));
    for (pid_t child = 0; children >> child;) look_at(child, depth + 1);
  }
}

}  // namespace gdr::watching
