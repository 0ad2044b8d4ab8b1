#include "verbs/comp_channel.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "verbs/abi.h"
#include "verbs/cq.h"
#include "verbs/errors.h"
#include "verbs/objects.h"

namespace gdr::verbs {

bool is_readable(int descriptor) {
  pollfd entry{descriptor, POLLIN, 0};
  return poll(&entry, 1, 0) == 1 && (entry.revents & POLLIN) != 0;
}

int wait_readable(int descriptor) {
  if (is_readable(descriptor)) return 0;
  const int flags = fcntl(descriptor, F_GETFL);
  if (flags < 0) return errno;
  if ((flags & O_NONBLOCK) != 0) return EAGAIN;
  pollfd entry{descriptor, POLLIN, 0};
  return poll(&entry, 1, -1) < 0 ? errno : 0;
}

std::unique_ptr<Channel> Channel::create(ibv_context* context) {
  auto channel = std::make_unique<Channel>();
  channel->descriptor_.reset(eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC));
  if (!channel->descriptor_) return nullptr;
  channel->base.context = context;
  channel->base.fd = channel->descriptor_.get();
  return channel;
}

void Channel::raise(Cq& cq) {
  const std::lock_guard guard(mutex_);
  waiting_.push_back(&cq);
  const std::uint64_t one = 1;
  if (write(descriptor_.get(), &one, sizeof one) != sizeof one) waiting_.pop_back();
}

void Channel::attach(const Cq& cq) {
  const std::lock_guard guard(mutex_);
  queues_.push_back(cq.queue);
}

// Who armed a queue with completions in it gets no event for what it is about to poll. But if it
// sleeps instead, because it polled another queue of this channel (perftest), there is one after
// all: nobody sleeps while an armed queue holds completions, as on ConnectX.
void Channel::tell_missed() {
  std::vector<std::shared_ptr<rnic::CompletionQueue>> queues;
  {
    const std::lock_guard guard(mutex_);
    queues = queues_;
  }
  for (const auto& queue : queues)
    queue->deliver_missed_event(rnic::CompletionQueue::Moderated::kYes);
}

void Channel::count_down() {
  std::uint64_t one;
  if (read(descriptor_.get(), &one, sizeof one) != sizeof one) return;
}

Cq* Channel::take() {
  for (;;) {
    if (!is_readable(descriptor_.get())) tell_missed();
    if (const int error = wait_readable(descriptor_.get())) return fail(error);
    const std::lock_guard guard(mutex_);
    if (waiting_.empty()) continue;  // another thread took it
    count_down();
    Cq* cq = waiting_.front();
    waiting_.pop_front();
    ++cq->events_taken;
    return cq;
  }
}

void Channel::drop(const Cq& cq) {
  const std::lock_guard guard(mutex_);
  const auto end = std::remove(waiting_.begin(), waiting_.end(), &cq);
  for (auto left = waiting_.end() - end; left > 0; --left) count_down();
  waiting_.erase(end, waiting_.end());
  std::erase(queues_, cq.queue);
}

}  // namespace gdr::verbs

using namespace gdr::verbs;  // NOLINT: this file is the C interface of the namespace

GDR_EXPORT ibv_comp_channel* ibv_create_comp_channel(ibv_context* context) {
  return or_null([&]() -> ibv_comp_channel* {
    std::unique_ptr<Channel> channel = Channel::create(context);
    if (!channel) return nullptr;
    channel->serial = context_of(context).adopt([raw = channel.get()] { delete raw; });
    return &channel.release()->base;
  });
}

GDR_EXPORT int ibv_destroy_comp_channel(ibv_comp_channel* channel) {
  return or_errno([&] {
    Channel& events = channel_of(channel);
    Context& context = context_of(channel->context);
    pthread_mutex_lock(&channel->context->mutex);
    const bool used = channel->refcnt != 0;
    pthread_mutex_unlock(&channel->context->mutex);
    if (used) return EBUSY;
    context.forget(events.serial);
    delete &events;
    return 0;
  });
}

GDR_EXPORT int ibv_get_cq_event(ibv_comp_channel* channel, ibv_cq** cq, void** cq_context) {
  Cq* taken = channel_of(channel).take();
  if (taken == nullptr) return -1;
  *cq = &taken->base;
  *cq_context = taken->base.cq_context;
  return 0;
}

GDR_EXPORT void ibv_ack_cq_events(ibv_cq* cq, unsigned count) {
  pthread_mutex_lock(&cq->mutex);
  cq->comp_events_completed += count;
  pthread_cond_broadcast(&cq->cond);
  pthread_mutex_unlock(&cq->mutex);
}
