// What memory a side may have: judged before it is touched, since a process that takes too much is
// ended by the kernel without a word; and what to say when a registration was refused.
//
//   if (Result<void> room = check_host_memory(bytes, available_memory()); !room) ...
//   "; the locked-memory limit is 65536 bytes: ulimit -l unlimited"
#pragma once

#include <sys/resource.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace gdr::perf {

// Half of what programs could take without others losing theirs: of this host, and of each memory
// cgroup that this process is in, whichever leaves least. A client says what a server takes, so the
// other half stays with everybody else. Nothing: not known.
std::optional<std::uint64_t> available_memory(const std::string& root = "/");
// ENOMEM: how much is needed, how much there is, and what needs less.
Result<void> check_host_memory(std::uint64_t bytes, std::optional<std::uint64_t> available);

// `limit`: getrlimit's, in bytes. Empty: it is not what was in the way.
std::string locked_memory_advice(int code, std::uint64_t bytes, rlim_t limit);

}  // namespace gdr::perf
