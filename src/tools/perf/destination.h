// Destination: a place that a server's port may send to: one port of one NIC, and no group of them.
//
//   Result<Destination> to = destination_of(port, is_ethernet, lid, gid, global);
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/result.h"

namespace gdr::perf {

// The fields that the port's kind of network does not look at are zero.
struct Destination {
  std::size_t port = 0;
  std::uint16_t lid = 0;
  std::array<std::uint8_t, 16> gid{};
  bool global = false;
  bool operator==(const Destination&) const = default;
};
// EINVAL: no address of one port alone (a multicast group would have all its members flooded), or
// none of this network.
Result<Destination> destination_of(std::size_t port, bool ethernet, std::uint16_t lid,
                                   const std::array<std::uint8_t, 16>& gid, bool global);

}  // namespace gdr::perf
