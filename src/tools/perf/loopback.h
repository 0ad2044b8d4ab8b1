// A loopback's server: a process of its own on this host, at the other end of a socket.
//
//   Result<process::Worker> server = start_loopback_server(options, choice->far_names);
//   Control control(server->take_socket());
#pragma once

#include <vector>

#include "perf/devices.h"
#include "perf/run.h"
#include "process/worker.h"

namespace gdr::perf {

// Uses GID index, processors and program of the options, and which stand-ins they permit.
Result<process::Worker> start_loopback_server(const Options& options,
                                              const std::vector<DeviceNames>& names);

}  // namespace gdr::perf
