// Moving bytes at once, on the calling thread: memcpy within this process, one process_vm_* call
// to or from another. Hot.
#pragma once

#include "local/pieces.h"
#include "peers/peer.h"

namespace gdr::local {

using peers::Peer;

// The process of pieces that are not here, and for how long they may be touched.
struct Elsewhere {
  Peer* peer;  // null: all are here
  While held;
};

// Both lists hold the same number of bytes and every piece is CPU-reachable. 0 or an errno value as
// in process_memory.h.
int move_now(const PieceList& from, const PieceList& to, const Elsewhere& there);

// After a failed move: whether the initiator's side of it is there, so that the fault is the
// other's.
bool can_be_touched(const PieceList& from, const PieceList& to);

}  // namespace gdr::local
