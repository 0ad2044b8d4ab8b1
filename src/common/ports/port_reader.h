// What a port has counted, read from its file (port_file.h).
//
//   PortValues values;
//   if (read_port("/run/user/1000/gdrkit/ports-4026531840", "soft0-0242acfffe110002", &values)) ...
//
// In any thread and signal handler, also between fork() and exec(): nothing is allocated, and the C
// library's open() is not used, which a preloaded library may stand in front of.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ports/port_count.h"

namespace gdr::ports {

struct PortValues {
  std::uint64_t of[kPortCounts] = {};

  std::uint64_t operator[](PortCount count) const { return of[static_cast<std::uint32_t>(count)]; }
};

constexpr std::size_t kMostDeviceName = 63;  // IB_DEVICE_NAME_MAX, without its 0
constexpr std::size_t kMostFileName = kMostDeviceName + 18;
// "soft0-0242acfffe110002": `guid` in host order. False: no device can have that name.
bool make_file_name(const char* name, std::uint64_t guid, char (&text)[kMostFileName]);

// How many processors a file has stripes for. 0: it is none of this version, or not whole.
std::uint32_t processors_of(int file);

// False: there is no such file of this account, or it holds something else. `values` are then 0.
bool read_port(const char* folder, const char* file, PortValues* values);

}  // namespace gdr::ports
