// The path's queue pairs whose copies of GPU memory go on, or who have posted: each round of the
// copy thread looks at them.
#include <sched.h>

#include <algorithm>

#include "net/packet_path.h"

namespace gdr::net {
namespace {

// What arrives for a queue pair waits while it sends.
constexpr std::uint32_t kBursts = 1;

}  // namespace

// By the next move(). Under its send lock. Hot: mostly it is there already.
void PacketPath::look_after(rnic::QueuePair& queue_pair) {
  PacketQueuePair& state = state_of(queue_pair);
  if (state.is_looked_after()) return;
  state.set_looked_after(true);
  {
    const std::lock_guard guard(moving_lock_);
    moving_.push_back(queue_pair.shared_from_this());
    is_moving_.store(true);
  }
  wake_mover();
}

void PacketPath::wake_mover() {
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
  // What arrives is taken for some of them: they are looked at again.
  std::erase_if(present, [&](const std::shared_ptr<rnic::QueuePair>& queue_pair) {
    const std::unique_lock guard(queue_pair->send_lock(), std::try_to_lock);
    if (guard) move(*queue_pair, time, due);
    return guard.owns_lock();
  });
  if (!present.empty()) {
    const std::lock_guard guard(moving_lock_);
    moving_.insert(moving_.end(), present.begin(), present.end());
    is_moving_.store(true);
  }
  if (!present.empty()) wake_mover();
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
