// The cases: what is moved where, by which way, and what each is held against. "The peer" is the
// same process for bare copies and for requests.
#pragma once

#include <cstddef>

#include "memories.h"

namespace gdr::bench {

enum class Way {
  kBareOut,  // by the CUDA driver, from own memory
  kBareIn,   // by the CUDA driver, from the peer's GPU memory into own memory
  kWrite,
  kRead,
  kStaged,        // the three legs one after another
  kStagedChunks,  // the three legs overlapping
};

enum CaseId : std::size_t {
  kBareCopy,
  kGpuWrite,
  kBareCopies,
  kGpuWrites,
  kStagedSerial,
  kStagedOverlapping,
  kBareFromPinned,
  kWriteFromPinned,
  kWriteFromOrdinary,
  kBareToPinned,
  kWriteToPinned,
  kWriteToOrdinary,
  kBareFromPeer,
  kReadToPinned,
  kReadToOrdinary,
  kCases,
};

struct Case {
  const char* group;
  const char* name;
  Way way;
  Memory from;
  Memory to;
  bool in_flight;  // several at a time
  CaseId limit;    // what it is held against; itself: nothing
};

const Case& case_of(std::size_t id);

inline bool is_from_peer(const Case& which) {
  return which.way == Way::kBareIn || which.way == Way::kRead;
}
inline bool is_into_peer(const Case& which) {
  return !is_from_peer(which) && (which.way != Way::kBareOut || which.to == Memory::kGpu);
}

}  // namespace gdr::bench
