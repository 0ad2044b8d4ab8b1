// Where the modules of the GPU driver that is loaded lie: below the system's own /lib/modules, or
// below a folder of the driver's own, as driver containers and read-only systems have it. That
// folder may be anywhere: it is looked for among what is mounted, and can be given.
//
//   for (const std::string& root : driver_roots(files, "580.95.05", {})) ...  // "",
//   "run/nvidia/driver"
#pragma once

#include <string>
#include <vector>

#include "host/files.h"

namespace gdr::host {

// Where NVIDIA's GPU operator mounts the root of its driver container unless told otherwise.
inline constexpr const char* kOperatorsDriverRoot = "run/nvidia/driver";

// Folders below the root that have lib/modules for the running kernel with a driver of NVIDIA's,
// those of the loaded release first; "" is the system itself, and is always among them. A folder
// that is seen to hold another release is left out. `given`: an absolute path that goes first, as
// with gdr doctor --driver-root; empty: none.
std::vector<std::string> driver_roots(const Files& files, const std::string& loaded_release,
                                      const std::string& given);

}  // namespace gdr::host
