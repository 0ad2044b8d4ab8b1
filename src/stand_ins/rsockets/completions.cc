#include "rsockets/completions.h"

#include <fcntl.h>

#include <cerrno>

namespace gdr::rsockets {

int Completions::open(ibv_context* device, int entries) {
  errno = 0;
  channel_ = ibv_create_comp_channel(device);
  if (channel_ == nullptr) return errno != 0 ? errno : ENOMEM;
  if (fcntl(channel_->fd, F_SETFL, fcntl(channel_->fd, F_GETFL) | O_NONBLOCK) != 0) return errno;
  queue_ = ibv_create_cq(device, entries, nullptr, channel_, 0);
  if (queue_ == nullptr) return errno != 0 ? errno : ENOMEM;
  return 0;
}

Completions::~Completions() {
  if (queue_ != nullptr) ibv_destroy_cq(queue_);
  if (channel_ != nullptr) ibv_destroy_comp_channel(channel_);
}

bool Completions::arm() {
  if (!armed_) armed_ = ibv_req_notify_cq(queue_, 0) == 0;
  return armed_;
}

void Completions::take_events() {
  ibv_cq* queue = nullptr;
  void* context = nullptr;
  while (ibv_get_cq_event(channel_, &queue, &context) == 0) {
    ibv_ack_cq_events(queue, 1);
    armed_ = false;
  }
}

}  // namespace gdr::rsockets
