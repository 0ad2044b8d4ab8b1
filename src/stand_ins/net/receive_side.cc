#include "net/receive_side.h"

#include <algorithm>

#include "rnic/delivery/receives.h"

namespace gdr::net {

using engine::Placed;

Placed ReceiveSide::begin(std::uint32_t xrc_srq) {
  if (queue_pair_.type() == IBV_QPT_XRC_RECV) return begin_xrc(xrc_srq);
  if (rnic::ready_receives(shared_) == 0) {
    const rnic::SrqTake took = rnic::take_shared(adapter_.segment(), queue_pair_.index(),
                                                 adapter_.token(), adapter_.liveness());
    if (took == rnic::SrqTake::kNone) return Placed::kNoReceive;
    if (took == rnic::SrqTake::kLimitReached) adapter_.neighbours().wake_service();
  }
  std::uint32_t most_segments = 0;
  const rnic::SharedReceive* entry =
      rnic::first_receive(adapter_.segment(), shared_, &most_segments);
  if (entry == nullptr) return Placed::kNoReceive;
  take(*entry, most_segments, shared_.receive_domain);
  return Placed::kPlaced;
}

rnic::SharedSrq* ReceiveSide::xrc_srq(std::uint32_t number) {
  if (rnic::slot_of_qp(number) != rnic::slot_of(adapter_.token())) return nullptr;
  return rnic::find_xrc_srq(adapter_.segment(), number, shared_);
}

// Taken off at once: others take from it between two packets of a message.
Placed ReceiveSide::begin_xrc(std::uint32_t number) {
  if (taken_.valid) return Placed::kPlaced;
  rnic::SharedSrq* srq = xrc_srq(number);
  if (srq == nullptr) return Placed::kRefused;
  const std::uint32_t index = rnic::index_of_qp(number);
  const rnic::SrqGuard guard(adapter_.segment(), index, adapter_.token(), adapter_.liveness());
  std::uint32_t most_segments = 0;
  const rnic::SharedReceive* entry = rnic::first_receive(adapter_.segment(), *srq, &most_segments);
  if (entry == nullptr) return Placed::kNoReceive;
  take(*entry, most_segments, srq->protection_domain);
  taken_.of_xrc = true;
  taken_.srq = index;
  rnic::SharedCompletion mark{};
  rnic::take_first_receive(*srq, mark).store(0);
  taken_.receive = mark.receive;
  if (rnic::reaches_limit(*srq, srq->receive_tail.load() - mark.receive)) {
    adapter_.neighbours().wake_service();
  }
  return Placed::kPlaced;
}

void ReceiveSide::take(const rnic::SharedReceive& entry, std::uint32_t most_segments,
                       std::uint32_t domain) {
  taken_.valid = true;
  taken_.of_xrc = false;
  taken_.wr_id = rnic::read_once(entry.wr_id);
  taken_.count = std::min({rnic::read_once(entry.segments), most_segments, rnic::kMaxSegments});
  taken_.domain = domain;
  taken_.room = 0;
  // Their keys are looked at for the bytes that come, where these are placed.
  for (std::uint32_t i = 0; i < taken_.count; ++i) {
    const rnic::SharedSegmentEntry from = rnic::read_segment(entry, i);
    taken_.segments[i] = {from.address, from.length, from.key};
    taken_.room += taken_.segments[i].length;
  }
}

void ReceiveSide::take_off(Completed* completed, bool solicited) {
  rnic::SharedCompletion& completion = completed->completion;
  completed->solicited = solicited;
  completion.wr_id = taken_.wr_id;
  taken_.valid = false;
  if (taken_.of_xrc) {
    completion.srq = static_cast<std::uint16_t>(taken_.srq + 1);
    completion.receive = taken_.receive;
    completed->queue = adapter_.segment().srq(taken_.srq).completion_queue;
    return;
  }
  // This process's own: who finds it half done is dead with it, and no mark is needed.
  rnic::take_first_receive(shared_, completion).store(0, std::memory_order_release);
  completed->queue = shared_.receive_completion_queue;
}

void ReceiveSide::push(const Completed& completed, std::vector<std::uint32_t>* due) {
  const rnic::Push push =
      rnic::push_completion(adapter_.segment(), completed.queue, completed.completion, {},
                            completed.solicited, adapter_.token(), adapter_.liveness());
  if (push == rnic::Push::kEventDue && due != nullptr) return due->push_back(completed.queue);
  adapter_.tell_of_push(push, completed.queue);
}

std::optional<std::uint32_t> ReceiveSide::waiting() {
  if (shared_.srq != 0 || queue_pair_.type() == IBV_QPT_XRC_RECV) return std::nullopt;
  return shared_.receive_tail.load() - shared_.receive_head.load();
}

std::uint32_t ReceiveSide::remote_domain(std::uint32_t number) {
  if (queue_pair_.type() != IBV_QPT_XRC_RECV) return shared_.protection_domain;
  const rnic::SharedSrq* srq = xrc_srq(number);
  return srq != nullptr ? srq->protection_domain : 0;
}

}  // namespace gdr::net
