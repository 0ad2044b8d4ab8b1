// EventQueue: the events of a channel, in the order in which the program takes them. Those about
// one peer (an address) keep their order, and peers take turns, request by request: who asks a
// thousand times delays another's request by one of its own, and not by all that wait. This is
// start-time fair queueing; where nobody has two requests waiting it is first in, first out.
//
//   events.put(std::move(event));
//   std::unique_ptr<QueuedEvent> event = events.take();   // not when it is empty
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>

#include "cm/message.h"

namespace gdr::rdmacm {

struct QueuedEvent;

class EventQueue {
 public:
  EventQueue();
  ~EventQueue();
  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;

  void put(std::unique_ptr<QueuedEvent> event);
  std::unique_ptr<QueuedEvent> take();
  bool empty() const { return events_.empty(); }
  // How many.
  std::size_t erase_if(const std::function<bool(std::unique_ptr<QueuedEvent>&)>& is_erased);

  auto begin() const { return events_.begin(); }
  auto end() const { return events_.end(); }

 private:
  std::deque<std::unique_ptr<QueuedEvent>> events_;  // by turn
  std::uint64_t turn_ = 0;                           // of the last that was taken
  std::map<cm::Gid, std::uint64_t> last_turns_;      // later than that: of each peer's last
};

}  // namespace gdr::rdmacm
