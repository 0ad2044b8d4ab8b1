// Round: what happens at the same time on a fabric: which hosts send to which, and over which
// rails. Every host is at most once a sender and at most once a receiver, so that no NIC is shared
// by two transfers of one direction.
//
//   Round round{.number = 3, .edges = {{0, 1}, {1, 0}}};   // hosts 0 and 1 as a pair
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "process/codec.h"

namespace gdr::fabric {

// A host's place in the list of a run's hosts.
using HostIndex = std::uint32_t;

struct Edge {
  HostIndex from = 0, to = 0;
  bool operator==(const Edge&) const = default;
  GDR_FIELDS(from, to)
};

struct Round {
  std::uint32_t number = 0;  // the first is 0
  std::vector<Edge> edges;
  std::optional<std::uint16_t> only_rail;  // --isolate: the other rails rest
  std::uint16_t rail_shift = 0;  // rail r sends to rail (r + rail_shift) mod rails; 0: aligned
  bool is_retest = false;        // suspects with hosts known to be good, alone on the fabric
};

}  // namespace gdr::fabric
