// Retests: suspects again, with hosts that are known to be good, and alone on the fabric. What was
// slow only because others were in its way is fast then.
#pragma once

#include <cstdint>
#include <vector>

#include "fabric/round.h"

namespace gdr::fabric {

struct RetestPlan {
  std::vector<HostIndex> suspects{};  // hosts with which something is wrong
  std::vector<Edge> pairs{};          // directions with which something is wrong
  std::vector<HostIndex> good{};      // hosts with which nothing is
  // For each suspect with another good host each time, as long as there are some; for each pair.
  std::uint32_t times = 3;
  // Pairs of good hosts beside the suspects, as far as there are hosts left: alone on the fabric a
  // healthy host may be faster than the fleet was, and a suspect is to be held against that.
  std::uint32_t controls = 2;
  std::uint32_t first_number = 0;  // of the first round
};

// In a round, each suspect has a good host for itself; where there are too few of them, the
// suspects take turns. Suspects without any good host are not retested. Pairs come after that, in
// both directions, many in one round where they share no host, and any two of them in different
// rounds at least once, if they are retested several times.
std::vector<Round> retest_rounds(const RetestPlan& plan, std::uint64_t seed);

}  // namespace gdr::fabric
