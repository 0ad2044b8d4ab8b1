#include "perf/locked_memory.h"

#include <cerrno>

namespace gdr::perf {

// Other registrations count, too: a limit that these bytes alone would fit into may be used up.
std::string locked_memory_advice(int code, std::uint64_t bytes, rlim_t limit) {
  if (code != ENOMEM || limit == RLIM_INFINITY) return "";
  std::string text = "; the locked-memory limit is " + std::to_string(limit) + " bytes";
  if (bytes <= limit) text += ", and other registrations take part of it";
  return text + ": ulimit -l unlimited (for services, LimitMEMLOCK=infinity)";
}

}  // namespace gdr::perf
