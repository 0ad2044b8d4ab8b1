// Moving bytes at once, on the calling thread: memcpy within this process, one process_vm_* call
// to or from another. Hot.
#pragma once

#include "local/peer.h"
#include "local/pieces.h"

namespace gdr::local {

// Both lists hold the same number of bytes and every piece is CPU-reachable; `peer` is the process
// of the pieces that are not here (null if all are). 0 or an errno value as in process_memory.h.
int move_now(const PieceList& from, const PieceList& to, Peer* peer);

// After a failed move: whether the initiator's side of it is there, so that the fault is the
// other's.
bool can_be_touched(const PieceList& from, const PieceList& to);

}  // namespace gdr::local
