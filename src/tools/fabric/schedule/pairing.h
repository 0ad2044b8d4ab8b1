// The patterns as arithmetic over places 0 to n-1: who meets whom in which round. No state that
// grows with the number of pairs.
#pragma once

#include <cstdint>
#include <vector>

#include "fabric/round.h"

namespace gdr::fabric {

// Rounds until each of n places has met each other one: n-1, or n where one rests in each round.
std::uint32_t tournament_rounds(std::uint32_t places);

// Pairs of a round of the tournament (circle method), both directions of each. `of` turns a place
// into a host.
void add_tournament_round(const std::vector<HostIndex>& of, std::uint32_t round,
                          std::vector<Edge>* edges);

// Each of the smaller side meets another of the larger one; after as many rounds as the larger side
// has members, each has met each. Both directions.
void add_crossing_round(const std::vector<HostIndex>& left, const std::vector<HostIndex>& right,
                        std::uint32_t round, std::vector<Edge>* edges);

// Everybody sends to the one `distance` places further on.
void add_shift_round(const std::vector<HostIndex>& of, std::uint32_t distance,
                     std::vector<Edge>* edges);

}  // namespace gdr::fabric
