// ReceiveRing: where the receive requests of a queue pair or a shared receive queue lie, once their
// shared description has been found sound. Hot.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

#include "base/restartable.h"
#include "rnic/segment.h"

namespace gdr::rnic {

constexpr std::uint32_t kMaxSegments = 32;  // of a request, as ibv_query_device reports

constexpr std::uint32_t receive_stride(std::uint32_t segments) {
  return static_cast<std::uint32_t>(sizeof(SharedReceive) + segments * sizeof(SharedSegmentEntry));
}

struct ReceiveRing {
  std::byte* base = nullptr;  // null: the description is not sound
  std::uint32_t capacity = 0, stride = 0, segments = 0;

  // `described`: a SharedQueuePair or a SharedSrq of that segment.
  template <typename Described>
  ReceiveRing(Segment& segment, const Described& described)
      : capacity(read_once(described.receive_capacity)),
        stride(read_once(described.receive_stride)),
        segments(read_once(described.receive_segments)) {
    if (!is_power_of_two(capacity) || segments > kMaxSegments || stride % 8 != 0 ||
        stride < sizeof(SharedReceive) + segments * sizeof(SharedSegmentEntry)) {
      return;
    }
    base = static_cast<std::byte*>(
        segment.arena(read_once(described.receive_ring), std::uint64_t{capacity} * stride));
  }

  SharedReceive& at(std::uint32_t position) const {
    return *reinterpret_cast<SharedReceive*>(base +
                                             std::uint64_t{position & (capacity - 1)} * stride);
  }
};

// How many receives wait in it, by what is known of its tail: at least one if there are any. Under
// its responder lock, or its consumer's.
inline std::uint32_t ready_receives(SharedQueuePair& queue) {
  const std::uint32_t head = queue.receive_head.load(std::memory_order_relaxed);
  const std::uint32_t known = queue.known_tail.load(std::memory_order_relaxed) - head;
  if (known - 1 < read_once(queue.receive_capacity)) return known;
  const std::uint32_t tail = queue.receive_tail.load();
  queue.known_tail.store(tail, std::memory_order_relaxed);
  return tail - head;
}
inline std::uint32_t ready_receives(SharedSrq& queue) {
  return queue.receive_tail.load() - queue.receive_head.load(std::memory_order_relaxed);
}

// Whether the queue pair takes messages: a real NIC would answer nothing else.
inline bool is_receiving(const SharedQueuePair& queue_pair) {
  const std::uint32_t state = queue_pair.state.load();
  const bool receives =
      state == IBV_QPS_RTR || state == IBV_QPS_RTS || state == IBV_QPS_SQD || state == IBV_QPS_SQE;
  return receives && queue_pair.failure.load() == static_cast<std::uint32_t>(Failure::kNone);
}

// Whether XRC requests through that queue pair may name the shared receive queue.
inline bool takes_xrc_of(const SharedSrq& srq, const SharedQueuePair& queue_pair) {
  return srq.takes_xrc.load() != 0 && read_once(srq.xrc_domain) == read_once(queue_pair.xrc_domain);
}

// The first receive request of a queue; null: there is none, or its description is not sound.
// `most_segments`: how many of its segments may be read.
template <typename Queue>
const SharedReceive* first_receive(Segment& segment, Queue& queue, std::uint32_t* most_segments) {
  const std::uint32_t head = queue.receive_head.load(std::memory_order_relaxed);
  const std::uint32_t ready = ready_receives(queue);
  const ReceiveRing ring(segment, queue);
  if (ready == 0 || ready > ring.capacity || ring.base == nullptr) return nullptr;
  *most_segments = ring.segments;
  return &ring.at(head);
}

// Takes it off, for `completion`; what is returned goes back to 0 once that is pushed.
template <typename Queue>
std::atomic<std::uint64_t>& take_first_receive(Queue& queue, SharedCompletion& completion) {
  const std::uint32_t head = queue.receive_head.load(std::memory_order_relaxed) + 1;
  completion.receive = head;
  queue.completing.store(receives_taken(head - 1, head), std::memory_order_release);
  queue.receive_head.store(head, std::memory_order_release);
  return queue.completing;
}

// Takes the first `count` off in another process's segment. False: this process was cut off, and
// nothing is taken.
template <typename Queue>
bool take_receives_while(const While& held, Queue& queue, std::uint32_t count) {
  const std::uint32_t head = queue.receive_head.load(std::memory_order_relaxed);
  return store_two_while(held, queue.completing, receives_taken(head, head + count),
                         queue.receive_head, head + count);
}
template <typename Queue>
bool take_first_receive_while(const While& held, Queue& queue, SharedCompletion& completion) {
  completion.receive = queue.receive_head.load(std::memory_order_relaxed) + 1;
  return take_receives_while(held, queue, 1);
}

// A segment of what another process may write over: read once.
inline SharedSegmentEntry read_segment(const SharedReceive& entry, std::uint32_t index) {
  const SharedSegmentEntry& segment = entry.segment[index];
  return {read_once(segment.address), read_once(segment.length), read_once(segment.key)};
}

inline void store_receive(const ibv_recv_wr& request, SharedReceive& entry) {
  entry.wr_id = request.wr_id;
  entry.segments = static_cast<std::uint32_t>(request.num_sge);
  for (int i = 0; i < request.num_sge; ++i) {
    const ibv_sge& segment = request.sg_list[i];
    entry.segment[i] = {segment.addr, segment.length, segment.lkey};
  }
}

}  // namespace gdr::rnic
