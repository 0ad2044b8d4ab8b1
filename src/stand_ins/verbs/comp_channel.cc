#include "verbs/comp_channel.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "verbs/abi.h"
#include "verbs/cq.h"
#include "verbs/errors.h"
#include "verbs/objects.h"

namespace gdr::verbs {
namespace {

// So long a process that goes on may take from counting an event to writing its record, and from
// reading a record to taking its event.
constexpr Nanoseconds kLongestWriting = 500 * kMillisecond;
constexpr std::size_t kFewQueues = 8;
constexpr std::uint32_t kMostMended = 1024;
constexpr std::uint32_t kNoHint = ~0u;  // no queue's number

}  // namespace

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
  Result<rnic::EventPipe> pipe = rnic::EventPipe::make();
  if (!pipe) return fail(pipe.error());
  auto channel = std::make_unique<Channel>();
  channel->pipe_ = *std::move(pipe);
  channel->base.context = context;
  channel->base.fd = channel->pipe_->descriptor();
  return channel;
}

bool Channel::raise(std::uint32_t queue) {
  if (pipe_->put(queue) != EAGAIN) return true;
  was_full_.store(true);
  return false;
}

void Channel::attach(Cq& cq) {
  const std::lock_guard guard(mutex_);
  queues_.emplace(cq.queue->index(), &cq);
}

// Whether an event may have to be told first, should the program sleep: a look at a few queues
// costs less than a look into the pipe.
bool Channel::may_have_missed() {
  const std::lock_guard guard(mutex_);
  return queues_.size() > kFewQueues ||
         std::any_of(queues_.begin(), queues_.end(),
                     [](const auto& entry) { return entry.second->queue->misses_event(); });
}

// Who armed a queue with completions in it gets no event for what it is about to poll. But if it
// sleeps instead, because it polled another queue of this channel (perftest), there is one after
// all: nobody sleeps while an armed queue holds completions, as on ConnectX.
void Channel::tell_missed() {
  std::vector<std::shared_ptr<rnic::CompletionQueue>> missed;
  {
    const std::lock_guard guard(mutex_);
    for (const auto& [index, cq] : queues_) {
      if (cq->queue->misses_event()) missed.push_back(cq->queue);
    }
  }
  for (const auto& queue : missed)
    queue->deliver_missed_event(rnic::CompletionQueue::Moderated::kYes);
}

// Whoever has read a record takes one event, of any queue. Null: there is none, which no process
// that keeps to the rules brings about.
Cq* Channel::taken_by(std::uint32_t hint) {
  const std::lock_guard guard(mutex_);
  auto found = queues_.find(hint);
  if (found == queues_.end() || !found->second->queue->take_event()) {
    // The one behind the last first, so that none is kept waiting by another.
    found = queues_.upper_bound(last_);
    std::size_t left = queues_.size();
    for (; left > 0; --left, ++found) {
      if (found == queues_.end()) found = queues_.begin();
      if (found->second->queue->take_event()) break;
    }
    if (left == 0) return nullptr;
    last_ = found->first;
  }
  ++found->second->events_taken;
  return found->second;
}

Cq* Channel::take() {
  // In a fork's child the records are the parent's, and so are the events.
  if (context_of(base.context).session->is_inherited()) return fail(EBADF);
  for (;;) {
    std::uint32_t hint = 0;
    int error = EAGAIN;
    if (may_have_missed()) {
      error = pipe_->take_now(&hint);
      if (error == EAGAIN) tell_missed();
    }
    if (error == EAGAIN) error = pipe_->wait(&hint);
    if (error != 0) return fail(error);
    Cq* cq = taken_by(hint);
    if (was_full_.load(std::memory_order_relaxed) && was_full_.exchange(false)) {
      context_of(base.context).adapter->neighbours().wake_service();
    }
    if (cq != nullptr) return cq;
    // The program may have put something else in its place, which would give bytes for ever.
    if (!pipe_->is_shown()) return fail(EBADF);
  }
}

void Channel::drop(const Cq& cq) {
  const std::lock_guard guard(mutex_);
  queues_.erase(cq.queue->index());
  std::uint32_t hint = 0;
  for (std::uint32_t left = cq.queue->drop_events(); left > 0; --left) {
    if (pipe_->take_now(&hint) != 0) break;
  }
}

Channel::Waiting Channel::waiting() const {
  Waiting waiting;
  for (const auto& [index, cq] : queues_) {
    waiting.events += cq->queue->raised_events();
    waiting.progress = waiting.progress * 31 + cq->queue->progress() + cq->events_taken;
  }
  return waiting;
}

void Channel::mend() {
  const std::lock_guard guard(mutex_);
  const Nanoseconds time = now();
  if (silent_since_ != 0 && time - silent_since_ < kLongestWriting) return;
  const Waiting present = waiting();
  const bool was_silent = silent_since_ != 0 && silent_progress_ == present.progress;
  silent_since_ = pipe_->is_empty() ? time : 0;
  silent_progress_ = present.progress;
  if (silent_since_ == 0 || !was_silent) return;
  silent_since_ = 0;
  for (std::uint32_t left = std::min(present.events, kMostMended); left > 0; --left) {
    if (pipe_->put(kNoHint) != 0) break;
  }
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
