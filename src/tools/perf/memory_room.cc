#include "perf/memory_room.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <sstream>
#include <vector>

#include "host/files.h"
#include "text/format.h"

namespace gdr::perf {
namespace {

using Bytes = std::optional<std::uint64_t>;

Bytes number(const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Bytes least(Bytes one, Bytes other) {
  if (!one || !other) return one ? one : other;
  return std::min(*one, *other);
}

// Reads lines "name value", as in memory.stat, or "name: value kB", as in meminfo.
Bytes named(const std::string& text, std::string_view name) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word, value;
    if (words >> word >> value && word == name) return number(value);
  }
  return std::nullopt;
}

// Under what names a hierarchy shows limits and use.
struct Hierarchy {
  const char* folder;
  std::vector<const char*> limits;
  const char* usage;
  const char* cache;  // in memory.stat: files that nobody used lately, which the kernel gives up
};
const Hierarchy kUnified{
    "sys/fs/cgroup", {"memory.max", "memory.high"}, "memory.current", "inactive_file"};
const Hierarchy kHybrid{
    "sys/fs/cgroup/unified", {"memory.max", "memory.high"}, "memory.current", "inactive_file"};
const Hierarchy kLegacy{"sys/fs/cgroup/memory",
                        {"memory.limit_in_bytes"},
                        "memory.usage_in_bytes",
                        "total_inactive_file"};

// "max", and version 1's number of as many pages as there are addresses for: no limit.
Bytes left_in(const host::Files& files, const Hierarchy& hierarchy, const std::string& folder) {
  Bytes limit;
  for (const char* name : hierarchy.limits) {
    limit = least(limit, number(files.line(folder + "/" + name)));
  }
  const Bytes usage = number(files.line(folder + "/" + hierarchy.usage));
  constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 62;
  if (!limit || *limit >= kNoLimit) return std::nullopt;
  const std::uint64_t cache =
      named(files.text(folder + "/memory.stat"), hierarchy.cache).value_or(0);
  const std::uint64_t used = usage.value_or(0);
  const std::uint64_t held = used - std::min(used, cache);
  return *limit - std::min(*limit, held);
}

// In the folder of the process and in all above it, as far as they are there: a container may see
// its own as the root, under a path that it had outside.
Bytes left_in_all(const host::Files& files, const Hierarchy& hierarchy, const std::string& path) {
  Bytes left;
  std::string folder = hierarchy.folder;
  left = left_in(files, hierarchy, folder);
  std::istringstream parts(path);
  for (std::string part; std::getline(parts, part, '/');) {
    if (part.empty() || part == "." || part == "..") continue;
    folder += "/" + part;
    left = least(left, left_in(files, hierarchy, folder));
  }
  return left;
}

bool is_of_memory(const std::string& controllers) {
  std::istringstream names(controllers);
  for (std::string name; std::getline(names, name, ',');) {
    if (name == "memory") return true;
  }
  return false;
}

// Lines "0::/path" of version 2, "4:memory:/path" of version 1.
Bytes left_by_cgroups(const host::Files& files) {
  Bytes left;
  std::istringstream lines(files.text("proc/self/cgroup"));
  for (std::string line; std::getline(lines, line);) {
    const auto first = line.find(':');
    const auto second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty()) {
      left = least(left, left_in_all(files, kUnified, path));
      left = least(left, left_in_all(files, kHybrid, path));
    } else if (is_of_memory(controllers)) {
      left = least(left, left_in_all(files, kLegacy, path));
    }
  }
  return left;
}

}  // namespace

std::optional<std::uint64_t> available_memory(const std::string& root) {
  const host::Files files(root);
  Bytes host = named(files.text("proc/meminfo"), "MemAvailable:");
  if (host) host = *host * 1024;
  const Bytes left = least(host, left_by_cgroups(files));
  if (!left) return std::nullopt;
  return *left / 2;
}

Result<void> check_host_memory(std::uint64_t bytes, std::optional<std::uint64_t> available) {
  if (!available || bytes <= *available) return {};
  return Error{ENOMEM, text::size_text(bytes) +
                           " of host memory are needed, but a run may use only " +
                           text::size_text(*available) +
                           " (half of what this host or its memory cgroup has left); use smaller "
                           "--sizes or fewer --queue-pairs"};
}

// Other registrations count, too: a limit that these bytes alone would fit into may be used up.
std::string locked_memory_advice(int code, std::uint64_t bytes, rlim_t limit) {
  if (code != ENOMEM || limit == RLIM_INFINITY) return "";
  std::string text = "; the locked-memory limit is " + std::to_string(limit) + " bytes";
  if (bytes <= limit) text += ", and other registrations use part of it";
  return text + ": ulimit -l unlimited (for services, LimitMEMLOCK=infinity)";
}

}  // namespace gdr::perf
