// The kinds of requests, one file each: each begins the front request of a requester by its checks,
// in the specification's order, and says how it went on.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "local/target.h"
#include "local/transfer.h"
#include "rnic/delivery/window_change.h"

namespace gdr::local {

struct Requester;

// How the front request of a send ring went on.
enum class Advance {
  kCompleted,  // it is off the ring
  kMove,       // `from` goes to `to` now, or is on its way; then it goes on
  kLater,      // try again at retry_at, or when woken
  kEngine,     // only the engine thread can do this
};

// An atomic has three moves; it holds the lock of the target process's atomics meanwhile.
struct AtomicStep {
  enum class Move { kReading, kWriting, kPlacing } move;
  std::uint64_t lock;    // its word
  std::uint64_t before;  // what was there
  std::uint64_t after;   // what is to be there
};

// One message for many receivers, a raw frame or a multicast datagram with its header: first
// gathered, then moved to one after the other.
struct Group {
  bool is_gathered = false;  // and its receivers are known
  std::vector<std::uint8_t> bytes;
  std::vector<std::shared_ptr<peers::Peer>> peers;  // all that `receivers` may lie in
  std::vector<Target> receivers;                    // still to be served
};

// connected_request.cc: RDMA write, read and send (RC, UC, XRC).
Advance begin_connected(Requester& requester);
// xrc_request.cc: goes on to the shared receive queue that it names. Nothing: it is there.
std::optional<Advance> enter_srq(Requester& requester);
// tagged_request.cc: to where tags decide which receive it takes. Its bytes are in `from`.
Advance begin_tagged(Requester& requester);
// Nothing: the target's shared receive queue is held, and what it holds may be matched.
std::optional<Advance> enter_tags(Requester& requester);
// atomic_request.cc
Advance begin_atomic(Requester& requester);
Advance finish_atomic_move(Requester& requester, Outcome outcome);
// window_request.cc
Advance change_window(Requester& requester);
// datagram_request.cc
Advance begin_datagram(Requester& requester);
// multicast_request.cc, frame_request.cc: gather the message, find who takes it.
Advance begin_multicast(Requester& requester);
void find_members(Requester& requester, Group& group);
Advance begin_frame(Requester& requester);
void find_receivers(Requester& requester, Group& group);
// group_request.cc
Group& make_group(Requester& requester, std::size_t header_bytes);
Advance serve_group(Requester& requester);
Advance finish_group_move(Requester& requester, Outcome outcome);

}  // namespace gdr::local
