// The receive that a message takes, and what completes it. Under the queue pair's responder lock.
// Hot.
#pragma once

#include <infiniband/verbs.h>

#include "rnic/datagram_header.h"
#include "rnic/receive_ring.h"
#include "rnic/srq.h"

namespace gdr::rnic {

// Takes a receive from the shared receive queue of the queue pair of that index, whose own ring is
// empty, if it has one.
inline SrqTake take_shared(Segment& segment, std::uint32_t index, Token self, Liveness& liveness) {
  const std::uint32_t srq = read_once(segment.queue_pair(index).srq);
  return srq != 0 ? take_receive(segment, srq - 1, index, self, liveness) : SrqTake::kNone;
}

// The shared receive queue of that segment that an XRC request through the queue pair names; null:
// there is none in its domain (the domain violation of annex A14).
inline SharedSrq* find_xrc_srq(Segment& segment, std::uint32_t number,
                               const SharedQueuePair& queue_pair) {
  const std::uint32_t index = index_of_qp(number);
  if (index >= kSrqs) return nullptr;
  SharedSrq& srq = segment.srq(index);
  return takes_xrc_of(srq, queue_pair) ? &srq : nullptr;
}

// Whether the queue pair grants the other side these rights.
inline bool grants(const SharedQueuePair& queue_pair, std::uint32_t rights) {
  return (queue_pair.access.load() & rights) == rights;
}

// Whether a memory window tied to that queue pair (0: to none) serves the other side of this one.
constexpr bool serves(std::uint32_t window_queue_pair, std::uint32_t number) {
  return window_queue_pair == 0 || window_queue_pair == number;
}

// What a receive completes with that cannot take its message (C9-94, C9-95).
constexpr ibv_wc_status refusal(bool too_short) {
  return too_short ? IBV_WC_LOC_LEN_ERR : IBV_WC_LOC_PROT_ERR;
}

// The completion of a receive, but for where it came from. `source`: the number of the queue pair
// that sent it.
inline void fill_completion(SharedCompletion* completion, ibv_wc_opcode opcode, std::uint64_t bytes,
                            std::uint32_t number, std::uint32_t source) {
  *completion = {};
  completion->status = IBV_WC_SUCCESS;
  completion->opcode = opcode;
  completion->bytes = static_cast<std::uint32_t>(bytes);
  completion->qp_number = number;
  completion->source_qp = source;
}

inline void add_immediate(SharedCompletion* completion, std::uint32_t immediate) {
  completion->flags |= IBV_WC_WITH_IMM;
  completion->immediate = immediate;
}

inline void add_invalidated(SharedCompletion* completion, std::uint32_t key) {
  completion->flags |= IBV_WC_WITH_INV;
  completion->immediate = key;
}

// 40 bytes stand before its payload, which came to that address.
inline void add_network_header(SharedCompletion* completion, Gid target) {
  completion->flags |= IBV_WC_GRH;
  completion->service_level = service_level_of(target);
}

}  // namespace gdr::rnic
