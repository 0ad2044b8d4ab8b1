// Event channels: an eventfd that counts the events in the queue, so that it polls, blocks and
// returns EAGAIN as the program has set its file descriptor.
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <new>

#include "rdmacm/state.h"
#include "rdmacm/surface.h"

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

GDR_EXPORT void rdma_destroy_event_channel(rdma_event_channel* channel) {
  if (channel == nullptr) return;
  close(channel->fd);
  delete &of(channel);
}
