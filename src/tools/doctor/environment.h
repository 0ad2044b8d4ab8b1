// The variables that the checks look at: of this process, or of a captured one.
#pragma once

#include <map>
#include <string>

#include "host/files.h"

namespace gdr::doctor {

// Those of NCCL, UCX, CUDA's choice of devices and the loader: no others, which may hold secrets.
bool is_relevant_variable(const std::string& name);

// The folder of a driver's own modules (NVIDIA's device plugin uses this name); gdr doctor
// --driver-root sets it.
inline constexpr const char* kDriverRootVariable = "NVIDIA_DRIVER_ROOT";

// A capture has them in proc/self/environ.
std::map<std::string, std::string> read_environment(const host::Files& files);

}  // namespace gdr::doctor
