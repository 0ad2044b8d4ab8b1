// A kernel module that is loaded: of the host, or of a driver that lives in a container and has its
// modules below a root of its own.
#pragma once

#include <string>

#include "fix/record.h"

namespace gdr::fix {

inline constexpr const char* kNvidiaPeermem = "nvidia-peermem";
inline constexpr const char* kOldPeermem = "nv_peer_mem";
// Where NVIDIA's driver container mounts itself.
inline constexpr const char* kDriverContainer = "run/nvidia/driver";

// "nvidia-peermem" is /sys/module/nvidia_peermem.
std::string sysfs_name(std::string module);

Record loaded_module(const std::string& module, bool in_container);

}  // namespace gdr::fix
