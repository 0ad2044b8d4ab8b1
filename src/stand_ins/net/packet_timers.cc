// Timers of connections, on the progress thread: see progress_thread.h.
#include <algorithm>
#include <optional>

#include "base/spin_lock.h"
#include "engine/transmit.h"
#include "net/packet_path.h"
#include "rnic/delivery/responder_lock.h"

namespace gdr::net {
namespace {

constexpr Nanoseconds kLookAgain = kMillisecond;

}  // namespace

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

Nanoseconds PacketPath::next_timer_of(rnic::QueuePair& queue_pair, Nanoseconds time) {
  const std::unique_lock guard(queue_pair.send_lock(), std::try_to_lock);
  if (!guard) {
    const std::lock_guard timed_guard(timed_lock_);
    timed_.push_back(queue_pair.weak_from_this());
    return time + 1;  // soon, but not in this round
  }
  if (queue_pair.packet_state == nullptr) return engine::kNever;
  PacketQueuePair& state = state_of(queue_pair);
  state.set_timed(false);
  const Nanoseconds next = state.connection()->next_timeout();
  if (next != engine::kNever) keep_timers_of(queue_pair);
  return next;
}

Nanoseconds PacketPath::run_timers(rnic::QueuePair& queue_pair, Nanoseconds time) {
  const std::unique_lock guard(queue_pair.send_lock(), std::try_to_lock);
  if (!guard) return time;
  if (queue_pair.packet_state == nullptr) return engine::kNever;
  PacketQueuePair& state = state_of(queue_pair);
  engine::Connection& connection = *state.connection();
  if (connection.next_timeout() > time) return connection.next_timeout();
  connection.handle_timeout(time);
  if (OpenPort* port = port_of(queue_pair)) (void)ask_for_peer(*port, state, time);
  answer(queue_pair, time);
  state.release_responder();
  return connection.next_timeout();
}

// Whether everything that had arrived when this was first asked has been taken. What a timer waits
// for may lie in a socket, which no NIC has: the program's thread that takes what arrives may have
// lost its core, and the receive lock with it, or this thread its own. On the progress thread.
bool PacketPath::has_taken_arrivals() {
  taken_.ask();
  // A program that polls is at it every microsecond.
  for (int i = 0; i < rnic::kLockSpins && !taken_.is_over(); ++i) cpu_relax();
  // Not for ever: what has been put aside for a queue pair that sends waits for its thread.
  std::optional<std::uint32_t> arrivals = 1;
  while (!taken_.is_over() && arrivals.value_or(0) > 0) arrivals = receive_all(false);
  if (!taken_.is_over()) return false;
  taken_.close();
  return true;
}

Nanoseconds PacketPath::run_timers(Nanoseconds time) {
  Nanoseconds next = general_services_.route(time);
  auto due = take_timed();
  std::erase_if(due, [&](const std::shared_ptr<rnic::QueuePair>& queue_pair) {
    const Nanoseconds own = next_timer_of(*queue_pair, time);
    if (own > time) next = std::min(next, own);
    return own > time;
  });
  if (due.empty()) {
    taken_.close();  // the next that is due asks anew
  } else if (!has_taken_arrivals()) {
    next = std::min(next, time + kLookAgain);
    due.clear();
  }
  for (const auto& queue_pair : due) next = std::min(next, run_timers(*queue_pair, time));
  for (std::size_t i = 0; i < port_count_.load(); ++i) {
    next = std::min({next, ports_[i].port->next_timeout(), ports_[i].sharing->run(time),
                     ports_[i].gate->run(time)});
  }
  return puts_off_.load() ? std::min(next, time + kMostPutOff) : next;
}

}  // namespace gdr::net
