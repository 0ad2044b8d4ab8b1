// Transfer: what one rail of a host sends to one rail of another in a round. Both sides derive from
// its name what is sent and how its packets are numbered, so that nothing is exchanged between
// rounds.
//
//   Transfer transfer{seed, round, from, to, from_rail, to_rail};
//   participants::fill_pattern(data_seed(transfer), 0, bytes);
#pragma once

#include <cstdint>

#include "fabric/round.h"

namespace gdr::fabric::worker {

struct Transfer {
  std::uint64_t run_seed = 0;
  std::uint32_t round = 0;
  HostIndex from = 0, to = 0;
  std::uint16_t from_rail = 0, to_rail = 0;
};

// Seeds of patterns (participants/pattern.h): what is sent, and what the receiver's memory holds
// before.
std::uint64_t data_seed(const Transfer& transfer);
std::uint64_t stale_seed(const Transfer& transfer);

// The first packet sequence numbers of the connection, 24 bits each. Packets that an earlier round
// left in the network have other ones, and are dropped.
struct PacketSequences {
  std::uint32_t sender = 0, receiver = 0;
};
PacketSequences packet_sequences(const Transfer& transfer);

}  // namespace gdr::fabric::worker
