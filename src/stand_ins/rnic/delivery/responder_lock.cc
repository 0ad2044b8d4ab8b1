#include "rnic/delivery/responder_lock.h"

#include "rnic/completion_queue.h"

namespace gdr::rnic {

void put_back_receive(const Responding& there, Token self, Liveness& liveness) {
  SharedQueuePair& queue_pair = there.queue_pair;
  const std::uint32_t head = queue_pair.receive_head.load();
  if (queue_pair.completing.exchange(0) != head || head == 0) return;
  const std::uint32_t queue = read_once(queue_pair.receive_completion_queue);
  if (!has_completed(there.segment, queue, {.qp_number = there.number(), .receive = head}, self,
                     liveness)) {
    queue_pair.receive_head.store(head - 1);
  }
}

}  // namespace gdr::rnic
