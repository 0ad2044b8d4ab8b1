// Claims: the targets that the software NIC was built to, and what was measured of each.
#pragma once

#include <cstdio>
#include <string>

#include "rounds.h"

namespace gdr::bench {

enum class Claim { kOneMiBWrite, kEightMiBHugeWrite, kEightByteLatency, kEventLatency };

// Rounds hold times: claims about bandwidth turn the ratio round. Repetitions add up.
void record(Claim claim, const Rounds& rounds);
void record_impossible(Claim claim, std::string why);

// claim | measured ratio | target | met
void print_claims(FILE* to);

}  // namespace gdr::bench
