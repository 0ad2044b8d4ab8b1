// One of the two processes of the matrix: what it plays, and the modes that there are.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "side.h"

namespace gdr::test {

enum class Operation { kSend, kWrite, kRead, kAtomic };
enum class Queues { kOne, kEight, kEightShared };  // shared: one receive queue for all of them

struct Mode {
  Operation operation;
  ibv_qp_type transport;  // IBV_QPT_XRC_SEND: XRC, whose receiving end is of another type
  bool events;            // sleeps on completion events, or polls
  bool carried_inline;
  Queues queues;
  bool both_ways;  // each side is an initiator and a target
};

std::vector<Mode> every_mode();
std::string name_of(const Mode& mode);  // "WriteRcPollingEightQueuePairs"
// For GoogleTest, which else gives tests the mode's bytes as a part of their names.
inline void PrintTo(const Mode& mode, std::ostream* out) { *out << name_of(mode); }

// Every message size that the mode can carry, every byte looked at. Both processes call it, with
// their roles 0 (initiates) and 1, and for XRC the file that stands for their domain. Throws
// Failure.
void play(const Mode& mode, int role, Wire& wire, int domain);

}  // namespace gdr::test
