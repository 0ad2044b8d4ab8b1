#include "fix/kernel_version.h"

#include <cstdio>

namespace gdr::fix {

KernelVersion kernel_version(const host::Files& files) {
  KernelVersion version;
  const std::string release = files.line("proc/sys/kernel/osrelease");
  if (std::sscanf(release.c_str(), "%4u.%4u", &version.major, &version.minor) != 2) return {};
  return version;
}

}  // namespace gdr::fix
