#include "rnic/events.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <memory>

namespace gdr::rnic {
namespace {

bool is_readable(int descriptor) {
  pollfd wait{.fd = descriptor, .events = POLLIN, .revents = 0};
  return poll(&wait, 1, 0) == 1;
}

// The caller holds the queue's mutex, so no other thread can empty the counter between the two; a
// program that reads the descriptor itself must not make this block either.
void take_one(int descriptor) {
  std::uint64_t one;
  if (is_readable(descriptor) && read(descriptor, &one, sizeof one) < 0) return;
}

}  // namespace

Result<std::unique_ptr<EventQueue>> EventQueue::create() {
  UniqueFd descriptor(eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE));
  if (!descriptor) return from_errno("eventfd for asynchronous events");
  return std::unique_ptr<EventQueue>(new EventQueue(std::move(descriptor)));
}

void EventQueue::push(const Event& event) {
  const std::lock_guard guard(mutex_);
  events_.push_back(event);
  const std::uint64_t one = 1;
  // Fails only at 2^64 - 2 events; take() looks at events_, so none is lost even then.
  if (write(descriptor_.get(), &one, sizeof one) < 0) return;
}

Result<Event> EventQueue::take() {
  while (true) {
    {
      const std::lock_guard guard(mutex_);
      if (!events_.empty()) {
        const Event event = events_.front();
        events_.pop_front();
        take_one(descriptor_.get());
        return event;
      }
    }
    // The program makes the descriptor non-blocking with fcntl (ibv_get_async_event(3)).
    if ((fcntl(descriptor_.get(), F_GETFL) & O_NONBLOCK) != 0) {
      return Error{EAGAIN, "no asynchronous event waits"};
    }
    // Waiting is outside the mutex, or push() could never end it. EINTR reaches the caller, as
    // from the read() of the kernel's descriptor.
    pollfd wait{.fd = descriptor_.get(), .events = POLLIN, .revents = 0};
    if (poll(&wait, 1, -1) < 0) return from_errno("waiting for an asynchronous event");
  }
}

void EventQueue::drop(const void* object) {
  const std::lock_guard guard(mutex_);
  const std::size_t dropped =
      std::erase_if(events_, [object](const Event& event) { return event.object == object; });
  for (std::size_t i = 0; i < dropped; ++i) take_one(descriptor_.get());
}

}  // namespace gdr::rnic
