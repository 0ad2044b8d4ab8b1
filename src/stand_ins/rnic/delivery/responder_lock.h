// The lock under which a queue pair's receives, memory and completions are used by whoever carries
// out a request against it: an initiator of this host, or what takes packets off the network. Hot.
#pragma once

#include "rnic/segment.h"
#include "rnic/shared_lock.h"

namespace gdr::rnic {

constexpr int kLockSpins = 2000;  // some microseconds

// A queue pair as its responder lock sees it.
struct Responding {
  Segment& segment;  // that it lies in
  SharedQueuePair& queue_pair;
  std::uint32_t index;
  Token owner;  // of the segment

  std::uint32_t number() const { return make_qp_number(slot_of(owner), index); }
};

// After the lock was taken over from the dead: receives that were taken and not completed go back
// to the front of their queue. Under the lock.
void put_back_receive(const Responding& there, Token self, Liveness& liveness);

// Takes it, and mends what a holder that died, or was cut off, has left half-done. `*word`: for
// unlock().
inline Taken take_responder(const Responding& there, Token self, Liveness& liveness, int spins,
                            std::uint64_t* word) {
  const Taken taken =
      try_lock_for(there.queue_pair.responder, self, liveness, there.owner, spins, word);
  if (taken == Taken::kOrphan) put_back_receive(there, self, liveness);
  return taken;
}

}  // namespace gdr::rnic
