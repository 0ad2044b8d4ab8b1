// NVIDIA's persistence mode: of one GPU, until the next boot, and the daemon that keeps it on.
#pragma once

#include <optional>
#include <string>

#include "fix/machine.h"
#include "fix/record.h"

namespace gdr::fix {

inline constexpr const char* kPeermemService = "gdrkit-peermem.service";
inline constexpr const char* kPersistenceDaemon = "nvidia-persistenced.service";

// Whether it is on, as nvidia-smi says.
Result<bool> persistence_mode(const Machine& machine, const std::string& gpu);
Record with_persistence_mode(const std::string& gpu);

// Whether systemd starts it at boot; ENOENT: it knows no such service.
Result<bool> service_enabled(const Machine& machine,
                             const std::string& service = kPersistenceDaemon);
Result<Record> enabled_service(const Machine& machine);
// The service of gdr peermem, which need not start now.
Record enabled_peermem_service();

}  // namespace gdr::fix
