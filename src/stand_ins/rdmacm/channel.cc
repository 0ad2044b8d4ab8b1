// Event channels: an eventfd that counts the events in the queue, so that it polls, blocks and
// returns EAGAIN as the program has set its file descriptor.
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <new>

#include "rdmacm/state.h"
#include "rdmacm/surface.h"

namespace gdr::rdmacm {

void free_channel(rdma_event_channel* channel) {
  close(channel->fd);
  delete &of(channel);
}

}  // namespace gdr::rdmacm

using namespace gdr::rdmacm;

GDR_EXPORT rdma_event_channel* rdma_create_event_channel() {
  auto* channel = new (std::nothrow) Channel;
  if (channel == nullptr) {
    fail(ENOMEM);
    return nullptr;
  }
  channel->visible.fd = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
  if (channel->visible.fd < 0) {
    delete channel;
    return nullptr;
  }
  return &channel->visible;
}

// What is still on it ends, as in the kernel, where the file holds the ids. Their memory is the
// program's until it destroys them.
GDR_EXPORT void rdma_destroy_event_channel(rdma_event_channel* channel) {
  if (channel == nullptr) return;
  {
    Library& l = library();
    const Guard guard(l.lock);
    for (const auto& event : of(channel).events) {
      if (event->event.event == RDMA_CM_EVENT_CONNECT_REQUEST) drop_request(l, *event);
    }
    for (Id* id : l.ids) {
      if (id->visible.channel != channel) continue;
      retire(l, *id);
      id->visible.channel = nullptr;
    }
  }
  free_channel(channel);
}
