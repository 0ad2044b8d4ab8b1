#include "facts.h"

#include <dirent.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

namespace gdr::bench {
namespace {

using File = std::unique_ptr<FILE, int (*)(FILE*)>;
using Folder = std::unique_ptr<DIR, int (*)(DIR*)>;

// "Name:   123 kB" lines of a file of /proc, in bytes. 0 for a name that is not there.
std::uint64_t bytes_in(const char* path, const char* name) {
  const File file(std::fopen(path, "re"), &fclose);
  char line[256];
  while (file && std::fgets(line, sizeof line, file.get()) != nullptr) {
    const std::size_t length = std::strlen(name);
    if (std::strncmp(line, name, length) == 0 && line[length] == ':') {
      return std::strtoull(line + length + 1, nullptr, 10) * 1024;
    }
  }
  return 0;
}

template <typename Call>
void for_each_entry(const char* path, Call&& call) {
  const Folder folder(opendir(path), &closedir);
  while (const dirent* entry = folder ? readdir(folder.get()) : nullptr) {
    if (entry->d_name[0] != '.') call(entry->d_name);
  }
}

// The process's own segment is the first that the library made; those of others come later.
std::uint64_t segment_bytes() {
  int first = -1;
  std::uint64_t bytes = 0;
  for_each_entry("/proc/self/fd", [&](const char* name) {
    const std::string path = std::string("/proc/self/fd/") + name;
    char link[128];
    const ssize_t length = readlink(path.c_str(), link, sizeof link);
    constexpr std::string_view kName = "/memfd:gdrkit-rnic-";
    if (length < 0 ||
        !std::string_view(link, static_cast<std::size_t>(length)).starts_with(kName)) {
      return;
    }
    int number = -1;
    std::from_chars(name, name + std::strlen(name), number);
    if (first >= 0 && number > first) return;
    struct stat status {};
    if (stat(path.c_str(), &status) != 0) return;
    first = number;
    bytes = static_cast<std::uint64_t>(status.st_blocks) * 512;
  });
  return bytes;
}

std::int64_t nanoseconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

std::int64_t processor_time() { return nanoseconds(CLOCK_PROCESS_CPUTIME_ID); }

Facts facts() {
  Facts found;
  found.cpu_nanoseconds = processor_time();
  found.others_nanoseconds = found.cpu_nanoseconds - nanoseconds(CLOCK_THREAD_CPUTIME_ID);
  constexpr const char* kRollup = "/proc/self/smaps_rollup";
  found.resident_bytes = bytes_in(kRollup, "Rss");
  found.proportional_bytes = bytes_in(kRollup, "Pss");
  found.private_bytes = bytes_in(kRollup, "Anonymous");
  found.segment_bytes = segment_bytes();
  found.page_table_bytes = bytes_in("/proc/self/status", "VmPTE");
  for_each_entry("/proc/self/task", [&](const char*) { ++found.threads; });
  for_each_entry("/proc/self/fd", [&](const char*) { ++found.descriptors; });
  --found.descriptors;  // the folder itself, which was open
  return found;
}

}  // namespace gdr::bench
