// Finds the modules of the loaded GPU driver: below the system's /lib/modules, or below a folder of
// the driver's own, as in driver containers and read-only systems. That folder may be anywhere, so
// the mounts are searched; the user can also name it.
//
//   for (const std::string& root : driver_roots(files, "580.95.05", {})) ...  // "",
//   "run/nvidia/driver"
#pragma once

#include <string>
#include <vector>

#include "host/files.h"

namespace gdr::host {

// NVIDIA's GPU operator mounts the root of its driver container here by default.
inline constexpr const char* kOperatorsDriverRoot = "run/nvidia/driver";

// Folders below the root that have lib/modules for the running kernel with a driver of NVIDIA's,
// those of the loaded release first; "" is the system itself, and is always among them. A folder
// that is seen to hold another release is left out. `given`: an absolute path that goes first, as
// with gdr doctor --driver-root; empty: none.
std::vector<std::string> driver_roots(const Files& files, const std::string& loaded_release,
                                      const std::string& given);

}  // namespace gdr::host
