// Channel: a completion event channel, whose descriptor is an eventfd that counts the events
// waiting.
//
//   CompletionSignal signal{channel, cq};   // one for each completion queue
//   signal.raise();                         // any thread: the descriptor becomes readable
//   Cq* cq = channel.take(&error);          // waits unless the descriptor is non-blocking
#pragma once

#include <infiniband/verbs.h>

#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "base/unique_fd.h"
#include "rnic/completion_queue.h"

namespace gdr::verbs {

struct Cq;

// Descriptors that programs may poll and make non-blocking themselves.
// 0 once readable; EAGAIN at once if it is non-blocking and is not; EINTR.
int wait_readable(int descriptor);
bool is_readable(int descriptor);

class Channel {
 public:
  // What ibv_comp_channel pointers point to; first, as in every verbs object.
  ibv_comp_channel base{};
  std::uint64_t serial = 0;

  static std::unique_ptr<Channel> create(ibv_context* context);  // null and errno

  void attach(const Cq& cq);
  void raise(Cq& cq);
  // The queue of the oldest event, counted as handed out; null and errno.
  Cq* take();
  // Forgets the events of a queue that is being destroyed.
  void drop(const Cq& cq);

 private:
  // The descriptor's count is always waiting_.size(): both change under mutex_.
  void count_down();
  void tell_missed();

  UniqueFd descriptor_;
  std::mutex mutex_;
  std::deque<Cq*> waiting_;
  std::vector<std::shared_ptr<rnic::CompletionQueue>> queues_;  // under mutex_
};

inline Channel& channel_of(ibv_comp_channel* channel) {
  return *reinterpret_cast<Channel*>(channel);
}

// The device calls this when a completion queue has an event. It outlives the queue, because a
// thread may still be about to raise an event.
class CompletionSignal {
 public:
  CompletionSignal(Channel* channel, Cq* cq) : channel_(channel), cq_(cq) {}
  void raise() {
    const std::lock_guard guard(mutex_);
    if (channel_ != nullptr) channel_->raise(*cq_);
  }
  void disconnect() {
    const std::lock_guard guard(mutex_);
    channel_ = nullptr;
  }

 private:
  std::mutex mutex_;
  Channel* channel_;
  Cq* const cq_;
};

}  // namespace gdr::verbs
