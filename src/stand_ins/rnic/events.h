// Asynchronous events of one opened device: what ibv_get_async_event hands out.
#pragma once

#include <infiniband/verbs.h>

#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include "base/result.h"
#include "base/unique_fd.h"

namespace gdr::rnic {

struct Event {
  ibv_event_type type;
  void* object;  // the verbs object it belongs to (its ibv_qp*, ibv_cq* or ibv_srq*), or null for
                 // the port
};

class EventQueue {
 public:
  static Result<std::unique_ptr<EventQueue>> create();

  int descriptor() const { return descriptor_.get(); }  // readable while an event waits
  void push(const Event& event);
  // Blocks unless the descriptor was made non-blocking (then EAGAIN).
  Result<Event> take();
  // Forgets the events of an object that is being destroyed.
  void drop(const void* object);

 private:
  explicit EventQueue(UniqueFd descriptor) : descriptor_(std::move(descriptor)) {}

  UniqueFd descriptor_;  // an eventfd used as a semaphore
  std::mutex mutex_;
  std::deque<Event> events_;
};

}  // namespace gdr::rnic
