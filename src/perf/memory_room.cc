#include "perf/memory_room.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>

#include "host/files.h"

namespace gdr::perf {

std::uint64_t available_memory() {
  constexpr std::string_view kLabel = "MemAvailable:";
  const std::string text = host::Files("/").text("proc/meminfo");
  const auto at = text.find(kLabel);
  if (at == std::string::npos) return 0;
  return std::strtoull(text.c_str() + at + kLabel.size(), nullptr, 10) * 1024;
}

Result<void> check_host_memory(std::uint64_t bytes, std::uint64_t available) {
  if (available == 0 || bytes <= available) return {};
  const auto gibibytes = [](std::uint64_t value) {
    return fmt::format("{:.1f} GiB", static_cast<double>(value) / (1 << 30));
  };
  return Error{ENOMEM, gibibytes(bytes) + " of host memory are needed, and " +
                           gibibytes(available) +
                           " are free: smaller --sizes or fewer --queue-pairs"};
}

// Other registrations count, too: a limit that these bytes alone would fit into may be used up.
std::string locked_memory_advice(int code, std::uint64_t bytes, rlim_t limit) {
  if (code != ENOMEM || limit == RLIM_INFINITY) return "";
  std::string text = "; the locked-memory limit is " + std::to_string(limit) + " bytes";
  if (bytes <= limit) text += ", and other registrations take part of it";
  return text + ": ulimit -l unlimited (for services, LimitMEMLOCK=infinity)";
}

}  // namespace gdr::perf
