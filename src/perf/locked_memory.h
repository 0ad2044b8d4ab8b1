// What to say when a registration was refused for want of locked memory.
//
//   "; 65536 bytes may be locked: ulimit -l unlimited"
#pragma once

#include <sys/resource.h>

#include <cstdint>
#include <string>

namespace gdr::perf {

// `limit`: getrlimit's, in bytes. Empty: it is not what was in the way.
std::string locked_memory_advice(int code, std::uint64_t bytes, rlim_t limit);

}  // namespace gdr::perf
