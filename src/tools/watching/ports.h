// Ports: what the NICs themselves counted while a program ran, whoever posted it.
//
//   const PortCounts before = read_ports("/", machine);
//   ...
//   const PortCounts moved = difference(before, read_ports("/", machine));
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "host/inventory.h"

namespace gdr::watching {

struct PortBytes {
  std::uint64_t out = 0, in = 0;  // on the wire, with headers
};
using PortCounts = std::map<std::string, PortBytes>;  // by RDMA name, all its ports

// NICs without such counters are left out.
PortCounts read_ports(const std::string& root, const host::Inventory& machine);
// The same of this account's software NICs, which count in files of their own; one that has not
// counted yet is left out.
PortCounts read_software_ports();
// What is not in `before` had counted nothing where `is_new_at_zero`, else it is left out.
PortCounts difference(const PortCounts& before, const PortCounts& after,
                      bool is_new_at_zero = false);

}  // namespace gdr::watching
