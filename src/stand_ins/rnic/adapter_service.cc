// The adapter's part of the service thread: events that are due, failures, locks that are held
// long.
#include <infiniband/verbs.h>

#include <utility>

#include "base/clock.h"
#include "rnic/adapter.h"
#include "rnic/due.h"

namespace gdr::rnic {

void Adapter::deliver_event(std::uint32_t queue) {
  std::shared_ptr<CompletionQueue> present;
  {
    const std::lock_guard guard(mutex_);
    const auto place = completion_queues_.find(queue);
    if (place != completion_queues_.end()) present = place->second.queue;
  }
  if (present != nullptr) present->deliver_event();
}

void Adapter::wake_for(const QueuePair& queue_pair) {
  mark_due(segment_->header().due_queue_pairs, queue_pair.index());
  neighbours_.wake_service();
}

void Adapter::deliver_missed_events() {
  looks_at_everything_ = true;
  for (const auto& queue : completion_queues_now()) {
    queue->deliver_missed_event(CompletionQueue::Moderated::kYes);
    queue->look_after_raised();
  }
}

void Adapter::look_after_locks() {
  if (!held_locks_.begin()) return;
  held_locks_.look_at(segment_->header().atomics, HeldFor::kCopies);
  for (const CopyInProgress& held : copies_in_progress()) {
    held_locks_.look_at(*held.lock, HeldFor::kCopies);
  }
  std::vector<std::shared_ptr<CompletionQueue>> held;
  {
    const std::lock_guard guard(mutex_);
    for (const auto& [index, place] : completion_queues_) {
      if (present_holding(segment_->completion_queue(index).producer) != 0) {
        held.push_back(place.queue);
      }
    }
  }
  for (const auto& queue : held) {
    held_locks_.look_at(segment_->completion_queue(queue->index()).producer, HeldFor::kBookkeeping);
  }
  held_locks_.end();
}

// Those that are marked. Everything where a mark may be missing: see due.h.
Adapter::Due Adapter::take_all_due() {
  SegmentHeader& header = segment_->header();
  const Nanoseconds time = coarse_now();
  const bool everything =
      std::exchange(looks_at_everything_, false) || time - looked_at_everything_ >= kSecond;
  if (everything) looked_at_everything_ = time;
  Due due;
  const std::lock_guard guard(mutex_);
  const auto add_queue = [&](WatchedQueue& place) {
    const bool overrun = place.queue->overrun() && !place.overrun_told;
    if (overrun) place.overrun_told = true;
    due.completion_queues.push_back(place);
    if (!overrun) due.completion_queues.back().events = nullptr;
  };
  take_due(header.due_queue_pairs, [&](std::uint32_t index) {
    const auto place = queue_pairs_.find(index);
    if (!everything && place != queue_pairs_.end()) due.queue_pairs.push_back(place->second);
  });
  take_due(header.due_completion_queues, [&](std::uint32_t index) {
    const auto place = completion_queues_.find(index);
    if (!everything && place != completion_queues_.end()) add_queue(place->second);
  });
  if (!everything) return due;
  for (const auto& [index, queue_pair] : queue_pairs_) due.queue_pairs.push_back(queue_pair);
  for (auto& [index, place] : completion_queues_) add_queue(place);
  return due;
}

bool Adapter::serve() {
  bool left = false;
  const auto serve_again = [&](SharedDue& due, std::uint32_t index) {
    mark_due(due, index);
    left = true;
  };
  SegmentHeader& header = segment_->header();
  const Due due = take_all_due();
  for (const auto& queue_pair : due.queue_pairs) {
    if (queue_pair->serve()) serve_again(header.due_queue_pairs, queue_pair->index());
  }
  for (const auto& srq : srqs_now()) left |= srq->serve();
  for (const WatchedQueue& place : due.completion_queues) {
    place.queue->deliver_event();
    if (place.queue->deliver_held_event()) {
      serve_again(header.due_completion_queues, place.queue->index());
    }
    if (place.events) {
      place.queue->look_at_tail();
      place.events->push({IBV_EVENT_CQ_ERR, place.verbs_object});
    }
    if (!place.queue->overrun()) continue;
    for (const auto& queue_pair : queue_pairs_now()) {
      if (!queue_pair->lose_completion_queue(*place.queue)) continue;
      serve_again(header.due_queue_pairs, queue_pair->index());
    }
    for (const auto& srq : srqs_now()) srq->lose_completion_queue(*place.queue);
  }
  return left;
}

}  // namespace gdr::rnic
