// ReceiveSide: where the messages of one queue pair go: its next receive request, from its own
// queue, a shared receive queue or an XRC one, and the completion at the end.
//
// One message at a time. Everything under the queue pair's responder lock, which the caller holds:
// processes of this host may deliver to the same queue pair (UD) or take from the same shared
// receive queue. Hot.
#pragma once

#include <array>
#include <vector>

#include "engine/owner.h"
#include "rnic/adapter.h"
#include "rnic/delivery/segments.h"
#include "rnic/receive_ring.h"

namespace gdr::net {

class ReceiveSide {
 public:
  ReceiveSide(rnic::Adapter& adapter, rnic::QueuePair& queue_pair)
      : adapter_(adapter), queue_pair_(queue_pair), shared_(queue_pair.shared()) {}

  engine::Placed begin(std::uint32_t xrc_srq);
  // Calls `store(place, bytes)` for each part of the bytes; false: it could not be stored.
  template <typename Store>
  engine::Placed place(std::uint64_t offset, std::span<const std::byte> bytes, const Store& store);
  struct Completed {
    rnic::SharedCompletion completion;
    std::uint32_t queue;
    bool solicited;
  };
  // The receive has its message and makes room for the next: fills in what `completed` lacks, which
  // is all but the completion, and of that the wr_id and the receive.
  void take_off(Completed* completed, bool solicited);
  // `due` gets the completion queue if the caller is to tell an event of it; null: it is told here.
  void push(const Completed& completed, std::vector<std::uint32_t>* due);
  // Receives that wait; nothing for shared ones.
  std::optional<std::uint32_t> waiting();
  bool has_srq(std::uint32_t number) { return xrc_srq(number) != nullptr; }
  // The domain that remote keys are looked up in.
  std::uint32_t remote_domain(std::uint32_t xrc_srq);

 private:
  struct Taken {
    bool valid = false;
    std::uint64_t wr_id = 0;
    std::uint32_t count = 0, domain = 0;
    std::uint64_t room = 0;
    std::array<ibv_sge, rnic::kMaxSegments> segments;
    bool of_xrc = false;
    std::uint32_t srq = 0;      // of_xrc: its index
    std::uint32_t receive = 0;  // of_xrc: its mark

    std::span<const ibv_sge> used() const { return {segments.data(), count}; }
  };
  engine::Placed begin_xrc(std::uint32_t number);
  rnic::SharedSrq* xrc_srq(std::uint32_t number);
  void take(const rnic::SharedReceive& entry, std::uint32_t most_segments, std::uint32_t domain);

  rnic::Adapter& adapter_;
  rnic::QueuePair& queue_pair_;
  rnic::SharedQueuePair& shared_;
  Taken taken_;
};

template <typename Store>
engine::Placed ReceiveSide::place(std::uint64_t offset, std::span<const std::byte> bytes,
                                  const Store& store) {
  if (!taken_.valid) return engine::Placed::kFault;
  if (offset + bytes.size() > taken_.room) return engine::Placed::kTooLong;
  return rnic::store_segments(adapter_.regions(), taken_.used(), taken_.domain, offset, bytes,
                              store)
             ? engine::Placed::kPlaced
             : engine::Placed::kFault;
}

}  // namespace gdr::net
