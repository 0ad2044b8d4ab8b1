#include "rnic/delivery/responder_lock.h"

#include "rnic/completion_queue.h"

namespace gdr::rnic {

void put_back_receive(const Responding& there, Token self, Liveness& liveness) {
  SharedQueuePair& queue_pair = there.queue_pair;
  const std::uint32_t head = queue_pair.receive_head.load();
  const std::uint64_t taken = queue_pair.completing.exchange(0);
  if (taken == 0 || taken_to(taken) != head) return;
  // Not trusted: it lies where others may write.
  const std::uint32_t count = head - taken_from(taken);
  const std::uint32_t from = count <= kMostTogether ? head - count : head - 1;
  // Its owner has polled one of them: what is taken together counts together.
  const std::uint32_t polled = queue_pair.polled_head.load(std::memory_order_relaxed);
  if (static_cast<std::int32_t>(polled - from) > 0) return;
  const std::uint32_t queue = read_once(queue_pair.receive_completion_queue);
  if (!has_completed(there.segment, queue, {.qp_number = there.number(), .receive = head}, self,
                     liveness)) {
    queue_pair.receive_head.store(from);
  }
}

}  // namespace gdr::rnic
