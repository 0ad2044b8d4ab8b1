#include "doctor/checks/process/limits.h"

#include <algorithm>
#include <charconv>

#include "text/format.h"

namespace gdr::doctor {
namespace {

// Services from which containers, batch jobs or remote shells inherit their limits.
constexpr const char* kServices[] = {"containerd", "dockerd", "crio", "kubelet",
                                     "slurmd",     "pbs_mom", "sshd"};

bool all_digits(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

}  // namespace

std::string MemoryLimit::text() const {
  if (!known) return "not shown";
  return unlimited ? "unlimited" : text::size_text(bytes);
}

// "Max locked memory         8388608              8388608              bytes"
MemoryLimit read_memory_limit(const host::Files& files, const std::string& process) {
  constexpr std::string_view kLabel = "Max locked memory", kUnlimited = "unlimited";
  MemoryLimit limit;
  const std::string text = files.text(process + "/limits");
  const auto label = text.find(kLabel);
  if (label == std::string::npos) return limit;
  const auto begin = text.find_first_not_of(' ', label + kLabel.size());
  if (begin == std::string::npos) return limit;
  if (text.compare(begin, kUnlimited.size(), kUnlimited) == 0) {
    limit.known = limit.unlimited = true;
    return limit;
  }
  const auto result = std::from_chars(text.data() + begin, text.data() + text.size(), limit.bytes);
  limit.known = result.ec == std::errc();
  return limit;
}

bool pam_lifts_memory_limit(const host::Files& files) {
  std::vector<std::string> paths = {kPamLimits};
  for (const std::string& name : files.entries("etc/security/limits.d")) {
    paths.push_back("etc/security/limits.d/" + name);
  }
  for (const std::string& path : paths) {
    for (const std::string& line : files.lines_with(path, "memlock")) {
      const auto begin = line.find_first_not_of(" \t");
      const bool lifted =
          line.find("unlimited") != std::string::npos || line.find("-1") != std::string::npos;
      if (line[begin] != '#' && lifted) return true;
    }
  }
  return false;
}

std::vector<Service> find_services(const host::Files& files) {
  std::vector<Service> services;
  for (const std::string& entry : files.entries("proc")) {
    if (!all_digits(entry)) continue;
    const std::string process = "proc/" + entry;
    const std::string name = files.line(process + "/comm");
    if (std::find(std::begin(kServices), std::end(kServices), name) == std::end(kServices))
      continue;
    // If several have one name, as sshd has for its sessions, the first one started the others.
    const bool seen = std::any_of(services.begin(), services.end(),
                                  [&](const Service& other) { return other.name == name; });
    if (!seen) services.push_back({name, process, read_memory_limit(files, process)});
  }
  return services;
}

}  // namespace gdr::doctor
