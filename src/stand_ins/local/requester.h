// Requester: what the local path keeps of one queue pair: where its requests go and how far the
// front one has come. Under the queue pair's send lock, except `moves`.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "local/target.h"
#include "local/transfer.h"
#include "peers/neighbours.h"
#include "rnic/delivery/window_change.h"

namespace gdr::local {

// How the front request of a send ring went on.
enum class Advance {
  kCompleted,  // it is off the ring
  kMove,       // `from` goes to `to` now, or is on its way; then it goes on
  kLater,      // try again at retry_at, or when woken
  kEngine,     // only the engine thread can do this
};

using peers::KnownPeer;
using peers::Presence;

struct Requester : rnic::CarrierState {
  KnownPeer peer;       // where a connected queue pair sends, or where the last datagram went
  KnownPeer srq_owner;  // of the last XRC request

  // Of datagrams: where the last one's address was found.
  std::uint8_t last_gid[16];
  bool has_last_gid = false, last_is_beyond = false;

  bool on_engine = false;  // the engine thread goes on with the ring
  bool by_engine = false;  // and it is the one that is at it now

  // Waiting: for the target to be ready, for a receive, for a lock.
  Nanoseconds waiting_since = 0;  // 0: not waiting
  Nanoseconds retry_at = 0;
  Nanoseconds told_of_wait = 0;  // the owner of a lock, of others' waiting for it

  // --- The request in progress: a transfer that poll() finishes.
  Target target;       // locked while in_progress
  PieceList from, to;  // what is to be moved
  bool in_progress = false;
  bool holds_atomics = false;
  std::uint64_t atomics_word = 0;
  bool invalidated = false;  // its window is, and it has not completed
  bool has_receive = false;  // `receive` is to be pushed at the end
  bool has_tag = false;      // it is that of a message with a header: `tag` says more
  TagMatch tag;
  bool solicited = false;
  rnic::SharedCompletion receive{};
  std::byte carried[rnic::kCarriedBytes];  // receive.carried bytes of it
  Transfer transfer;
  std::vector<std::shared_ptr<memory::PinnedMemory>> opened;  // the peer's, that it moves
  // Odd while a transfer is in progress: deregistration waits for it to change.
  std::atomic<std::uint64_t> moves{0};
  // Deregistration has waited for long: the transfer is given up and the request begins again, with
  // the keys that there are then.
  std::atomic<bool> to_begin_again{false};

  int phase = 0;                    // of an atomic or a raw frame
  std::uint64_t atomic_value = 0;   // what was there before
  std::uint64_t atomic_result = 0;  // what is to be there
  rnic::WindowChange window;
  alignas(8) std::uint8_t grh[rnic::kGrhBytes];

  // --- A raw frame or a multicast datagram in progress.
  bool to_group = false;  // it is a datagram
  std::vector<std::uint8_t> frame;
  std::vector<std::shared_ptr<Peer>> receiver_peers;  // all that `receivers` may lie in
  std::vector<Target> receivers;                      // still to be served

  void stop_waiting() { waiting_since = 0, retry_at = 0; }
};

}  // namespace gdr::local
