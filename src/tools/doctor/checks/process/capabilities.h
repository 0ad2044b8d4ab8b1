// Which of the kernel's capabilities a process has, from /proc/PID/status.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "host/files.h"

namespace gdr::doctor {

constexpr unsigned kCapNetRaw = 13, kCapIpcLock = 14, kCapSysAdmin = 21;

// The mask behind "CapEff:"; nothing: not shown.
std::optional<std::uint64_t> effective_capabilities(const host::Files& files,
                                                    const std::string& process = "proc/self");
inline bool has_capability(std::uint64_t mask, unsigned capability) {
  return (mask >> capability & 1) != 0;
}

}  // namespace gdr::doctor
