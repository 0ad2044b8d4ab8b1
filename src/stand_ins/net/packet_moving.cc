// The path's queue pairs whose copies of GPU memory go on, or who have posted: each round of the
// progress thread looks at them.
#include "net/packet_path.h"

namespace gdr::net {

// By the next settle_moving(). Under its send lock. Hot: mostly it is there already.
void PacketPath::look_after(rnic::QueuePair& queue_pair) {
  PacketQueuePair& state = state_of(queue_pair);
  if (state.is_looked_after()) return;
  state.set_looked_after(true);
  const std::lock_guard guard(moving_lock_);
  moving_.push_back(queue_pair.shared_from_this());
  is_moving_.store(true);
}

// Under the receive lock, and no queue pair's: copies go on, what has waited for them is told and
// answered, and what can be sent is.
void PacketPath::settle_moving() {
  placer_.advance();
  std::vector<std::shared_ptr<rnic::QueuePair>> present;
  {
    const std::lock_guard guard(moving_lock_);
    present.swap(moving_);
    is_moving_.store(false);
  }
  const Nanoseconds time = now();
  for (const auto& queue_pair : present) {
    const std::lock_guard guard(queue_pair->send_lock());
    if (queue_pair->packet_state == nullptr) continue;
    PacketQueuePair& state = state_of(*queue_pair);
    state.set_looked_after(false);
    if (state.connection() != nullptr && state.take_posted()) state.connection()->posted(time);
    const bool moves = state.settle(time);
    pump(*queue_pair, time);
    state.release_responder();
    if (moves) look_after(*queue_pair);
  }
}

}  // namespace gdr::net
