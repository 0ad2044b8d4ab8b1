#include "rdmacm/event_queue.h"

#include <algorithm>
#include <set>

#include "rdmacm/state.h"

namespace gdr::rdmacm {
namespace {

// What is about no peer counts as one peer's.
cm::Gid peer_of(const QueuedEvent& event) {
  return event.link ? event.link->remote_gid : cm::Gid{};
}

}  // namespace

EventQueue::EventQueue() = default;
EventQueue::~EventQueue() = default;

void EventQueue::put(std::unique_ptr<QueuedEvent> event) {
  const bool is_request = event->event.listen_id != nullptr;
  std::uint64_t& last = last_turns_[peer_of(*event)];
  last = std::max(turn_ + 1, last + (is_request ? 1 : 0));
  event->turn = last;
  const auto behind = std::ranges::upper_bound(
      events_, last, {}, [](const std::unique_ptr<QueuedEvent>& one) { return one->turn; });
  events_.insert(behind, std::move(event));
}

std::unique_ptr<QueuedEvent> EventQueue::take() {
  std::unique_ptr<QueuedEvent> event = std::move(events_.front());
  events_.pop_front();
  turn_ = event->turn;
  const auto last = last_turns_.find(peer_of(*event));
  if (last != last_turns_.end() && last->second <= turn_) last_turns_.erase(last);
  return event;
}

std::size_t EventQueue::erase_if(
    const std::function<bool(std::unique_ptr<QueuedEvent>&)>& is_erased) {
  const std::size_t erased = std::erase_if(events_, is_erased);
  if (erased == 0) return 0;
  std::set<cm::Gid> present;
  for (const auto& event : events_) present.insert(peer_of(*event));
  std::erase_if(last_turns_, [&](const auto& last) { return !present.contains(last.first); });
  return erased;
}

}  // namespace gdr::rdmacm
