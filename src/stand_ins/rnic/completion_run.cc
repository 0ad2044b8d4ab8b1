#include "rnic/completion_run.h"

#include "base/kill_point.h"

namespace gdr::rnic {

bool CompletionRun::begin(Segment& segment, std::uint32_t queue, const While& held, Token self,
                          Liveness& liveness, KeptProducer* kept) {
  shared_ = &segment.completion_queue(queue);
  if (!suits(*shared_)) return false;
  const Token owner = read_once(segment.header().token);
  if (!keep_producer(shared_->producer, owner, self, liveness, held, kept)) return false;
  capacity_ = read_once(shared_->capacity);
  limit_ = std::min(read_once(shared_->limit), capacity_);
  tail_ = shared_->tail.load(std::memory_order_relaxed);
  entries_ = static_cast<SharedCompletion*>(
      segment.arena(read_once(shared_->ring), ring_bytes(capacity_)));
  if (!is_power_of_two(capacity_) || entries_ == nullptr) return false;
  most_ = most_together(capacity_);
  return true;
}

// The first one's mark comes last: its consumer then finds all of them.
bool CompletionRun::count(const While& held) const {
  if (!store_while(held, shared_->tail, tail_ + size())) return false;
  kill_point("receive_counted");
  for (std::uint32_t i = size(); i-- != 0;) {
    const std::uint32_t position = tail_ + i;
    (void)store_while(held, mark_in(entries_[position & (capacity_ - 1)]),
                      mark_of(position, capacity_));
  }
  return true;
}

}  // namespace gdr::rnic
