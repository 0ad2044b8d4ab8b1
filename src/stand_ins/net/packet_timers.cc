// Timers of connections, on the progress thread: see progress_thread.h.
#include <algorithm>

#include "engine/transmit.h"
#include "net/packet_path.h"

namespace gdr::net {

// Under its send lock. Hot: mostly it is there already.
void PacketPath::keep_timers_of(rnic::QueuePair& queue_pair) {
  PacketQueuePair& state = state_of(queue_pair);
  if (state.is_timed()) return;
  state.set_timed(true);
  const std::lock_guard guard(timed_lock_);
  timed_.push_back(queue_pair.weak_from_this());
}

// Each once: one that was connected anew may be there for its earlier connection, too.
std::vector<std::shared_ptr<rnic::QueuePair>> PacketPath::take_timed() {
  std::vector<std::weak_ptr<rnic::QueuePair>> timed;
  {
    const std::lock_guard guard(timed_lock_);
    timed.swap(timed_);
  }
  std::vector<std::shared_ptr<rnic::QueuePair>> present;
  for (const auto& known : timed) {
    if (auto queue_pair = known.lock()) present.push_back(std::move(queue_pair));
  }
  std::sort(present.begin(), present.end());
  present.erase(std::unique(present.begin(), present.end()), present.end());
  return present;
}

Nanoseconds PacketPath::run_timers(rnic::QueuePair& queue_pair, Nanoseconds time) {
  const std::unique_lock guard(queue_pair.send_lock(), std::try_to_lock);
  if (!guard) {
    const std::lock_guard timed_guard(timed_lock_);
    timed_.push_back(queue_pair.weak_from_this());
    return time;
  }
  if (queue_pair.packet_state == nullptr) return engine::kNever;
  PacketQueuePair& state = state_of(queue_pair);
  engine::Connection& connection = *state.connection();
  state.set_timed(false);
  const bool due = connection.next_timeout() <= time;
  if (due) connection.handle_timeout(time);
  if (OpenPort* port = port_of(queue_pair); due && port != nullptr) {
    (void)ask_for_peer(*port, state, time);
  }
  if (due) answer(queue_pair, time);
  state.release_responder();
  const Nanoseconds next = connection.next_timeout();
  if (next != engine::kNever) keep_timers_of(queue_pair);
  return next;
}

Nanoseconds PacketPath::run_timers(Nanoseconds time) {
  Nanoseconds next = general_services_.route(time);
  for (const auto& queue_pair : take_timed()) {
    next = std::min(next, run_timers(*queue_pair, time));
  }
  for (std::size_t i = 0; i < port_count_.load(); ++i) {
    next = std::min({next, ports_[i].port->next_timeout(), ports_[i].sharing->run(time),
                     ports_[i].gate->run(time)});
  }
  return puts_off_.load() ? std::min(next, time + kMostPutOff) : next;
}

}  // namespace gdr::net
