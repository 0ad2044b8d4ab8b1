// Limits: what /proc/PID/limits says of memory that a process may lock, and of the processes that
// hand theirs on.
//
//   const MemoryLimit limit = read_memory_limit(host.files, "proc/self");
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/files.h"

namespace gdr::doctor {

// Chosen: room for the rings and buffers of a small job. NVIDIA and the MPIs ask for no limit.
constexpr std::uint64_t kLeastMemoryLimit = 64 << 20;

struct MemoryLimit {
  bool known = false;
  bool unlimited = false;
  std::uint64_t bytes = 0;
  bool enough() const { return unlimited || bytes >= kLeastMemoryLimit; }
  std::string text() const;  // "unlimited", "8 MiB", "not shown"
};

// `process`: "proc/self", "proc/4711". The soft limit, which is in force.
MemoryLimit read_memory_limit(const host::Files& files, const std::string& process);

// PAM's limits for sessions; limits.d adds to them.
constexpr const char* kPamLimits = "etc/security/limits.conf";
bool pam_lifts_memory_limit(const host::Files& files);

// Running services that start other people's programs: containerd, slurmd, sshd, …
struct Service {
  std::string name, process;  // "containerd", "proc/812"
  MemoryLimit limit;
};
std::vector<Service> find_services(const host::Files& files);

}  // namespace gdr::doctor
