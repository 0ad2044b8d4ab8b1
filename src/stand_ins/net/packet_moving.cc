// The path's queue pairs whose copies of GPU memory go on, or who have posted: each round of the
// copy thread looks at them.
#include "net/packet_path.h"

namespace gdr::net {
namespace {

// Arrivals for a queue pair wait while it sends.
constexpr std::uint32_t kBursts = 1;

}  // namespace

// By the next move(). Under its send lock. Hot: mostly it is there already.
void PacketPath::look_after(rnic::QueuePair& queue_pair) {
  PacketQueuePair& state = state_of(queue_pair);
  if (state.is_looked_after()) return;
  state.set_looked_after(true);
  add_moving(queue_pair.shared_from_this());
}

void PacketPath::add_moving(std::shared_ptr<rnic::QueuePair> queue_pair) {
  {
    const std::lock_guard guard(moving_lock_);
    moving_.push_back(std::move(queue_pair));
    is_moving_.store(true);
  }
  if (CopyThread* thread = copies_.load()) {
    thread->wake();
  } else {
    thread_->wake();
  }
}

void PacketPath::move() {
  placer_.advance();
  std::vector<std::shared_ptr<rnic::QueuePair>> present;
  {
    const std::lock_guard guard(moving_lock_);
    present.swap(moving_);
    is_moving_.store(false);
  }
  std::vector<std::uint32_t> due;
  const Nanoseconds time = now();
  for (auto& queue_pair : present) {
    const std::unique_lock guard(queue_pair->send_lock(), std::try_to_lock);
    if (guard) {
      move(*queue_pair, time, due);
    } else {
      add_moving(queue_pair);  // arrivals for it are being taken: it is looked at again
    }
  }
  tell_events(due);
}

// Under its send lock.
void PacketPath::move(rnic::QueuePair& queue_pair, Nanoseconds time,
                      std::vector<std::uint32_t>& due) {
  if (queue_pair.packet_state == nullptr) return;
  PacketQueuePair& state = state_of(queue_pair);
  state.set_looked_after(false);
  if (state.connection() != nullptr && state.take_posted()) state.connection()->posted(time);
  const bool moves = state.settle(time, due);
  pump(queue_pair, time, kBursts);
  state.release_responder();
  if (moves) look_after(queue_pair);
}

}  // namespace gdr::net
