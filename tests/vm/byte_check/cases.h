// Cases: one transfer at a time from the active side to the passive one, each byte and its guards
// checked by the memory's owner; then many at once, both ways.
#pragma once

#include <string>
#include <vector>

#include "endpoint.h"
#include "link.h"

namespace byte_check {

struct Case {
  const char* name;
  ibv_qp_type transport;
  ibv_wr_opcode opcode;
  std::uint32_t bytes;
};

// `lossy`: without those whose loss nobody could tell from a defect (UC writes).
std::vector<Case> cases(std::uint32_t mtu, bool lossy, bool reliable_only);

// Both sides call it with the same case; `seed` differs from one to the next. What was wrong on
// this side or the other, or nothing.
std::string run(Endpoint& side, Link& link, const Case& c, bool active, std::uint64_t seed);

// Writes, sends with immediate data and reads, all from both sides at the same time.
std::string run_many(Endpoint& side, Link& link, std::uint64_t seed);

}  // namespace byte_check
