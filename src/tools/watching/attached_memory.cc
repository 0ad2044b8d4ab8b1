#include "watching/attached_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <system_error>
#include <vector>

namespace gdr::watching {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFiles = 4096;
// Transport sysv. Its inode number is the segment's id.
constexpr const char* kSystemV = "/SYSV";
// Transport posix. Who made it keeps its descriptor; who attaches it closes that again.
constexpr const char* kPosix = "ucx_shm_posix_";

struct Mapped {
  std::string inode, path;
};

// The lines of a memory map whose path has this part.
std::vector<Mapped> mapped_with(const std::string& maps, const char* part) {
  std::vector<Mapped> found;
  for (std::size_t at = maps.find(part); at != std::string::npos; at = maps.find(part, at)) {
    const std::size_t begin = maps.rfind('\n', at) + 1;  // 0 where there is none before it
    const std::size_t end = std::min(maps.find('\n', at), maps.size());
    std::istringstream words(maps.substr(begin, end - begin));
    std::string range, rights, offset, device;
    Mapped one;
    words >> range >> rights >> offset >> device >> one.inode >> one.path;
    found.push_back(std::move(one));
    at = end;
  }
  return found;
}

// Segments of System V that the process has made.
std::set<std::string> made_by(pid_t pid, const std::string& proc) {
  std::set<std::string> made;
  std::ifstream lines(proc + "/sysvipc/shm");
  std::string line;
  std::getline(lines, line);  // headings
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string key, id, rights, size;
    pid_t maker = 0;
    if (words >> key >> id >> rights >> size >> maker && maker == pid) made.insert(id);
  }
  return made;
}

std::set<std::string> opened_by(pid_t pid, const std::string& proc) {
  std::set<std::string> paths;
  std::error_code error;
  std::size_t looked_at = 0;
  for (fs::directory_iterator entry(fmt::format("{}/{}/fd", proc, pid), error), end;
       !error && entry != end && looked_at < kMostFiles; entry.increment(error), ++looked_at) {
    const std::string target = fs::read_symlink(entry->path(), error).string();
    error.clear();
    paths.insert(target.substr(0, target.find(' ')));  // " (deleted)"
  }
  return paths;
}

}  // namespace

bool has_attached(const std::string& maps, pid_t pid, const std::string& proc) {
  const std::vector<Mapped> system_v = mapped_with(maps, kSystemV);
  const std::vector<Mapped> posix = mapped_with(maps, kPosix);
  if (!system_v.empty()) {
    const std::set<std::string> made = made_by(pid, proc);
    for (const Mapped& one : system_v) {
      if (!made.contains(one.inode)) return true;
    }
  }
  if (!posix.empty()) {
    const std::set<std::string> opened = opened_by(pid, proc);
    for (const Mapped& one : posix) {
      if (!opened.contains(one.path)) return true;
    }
  }
  return false;
}

}  // namespace gdr::watching
