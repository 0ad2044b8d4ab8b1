#include "base/address_space.h"

#include <sys/resource.h>

#include <cerrno>

namespace gdr {

std::string address_space_shortage(std::uint64_t needed) {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
      limit.rlim_cur >= needed) {
    return {};
  }
  const std::string found =
      "this process may map only " + std::to_string(limit.rlim_cur >> 20) + " MiB (RLIMIT_AS): ";
  if (may_lift_address_space()) return found + "type 'ulimit -v unlimited'";
  return found +
         "ask the batch system for more memory (Slurm: --mem and VSizeFactor; Grid Engine: "
         "-l h_vmem)";
}

bool may_lift_address_space() {
  rlimit limit{};
  return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_max == RLIM_INFINITY;
}

std::string address_space_advice(int code) {
  const std::string shortage = code == ENOMEM ? address_space_shortage(UINT64_MAX) : "";
  return shortage.empty() ? "" : "; " + shortage;
}

}  // namespace gdr
