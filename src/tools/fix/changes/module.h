// A kernel module that is loaded: of the host, or of a driver that lives in a container and has its
// modules below a root of its own.
#pragma once

#include <string>

#include "fix/record.h"

namespace gdr::fix {

inline constexpr const char* kNvidiaPeermem = "nvidia-peermem";
inline constexpr const char* kOldPeermem = "nv_peer_mem";
inline constexpr const char* kEfaPeermem = "efa_nv_peermem";

// "nvidia-peermem" is /sys/module/nvidia_peermem.
std::string sysfs_name(std::string module);

// `root`: the driver's own, as "run/nvidia/driver"; empty: the system's.
Record loaded_module(const std::string& module, const std::string& root);

}  // namespace gdr::fix
