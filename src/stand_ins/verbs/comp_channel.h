// Channel: a completion event channel. Its descriptor is the reading end of a pipe with a record
// for each event that waits (rnic/event_pipe.h); the events are counted in their queues.
//
//   CompletionSignal signal{channel, queue};   // one for each completion queue
//   signal.raise();                            // any thread: the descriptor becomes readable
//   Cq* cq = channel.take();                   // waits unless the descriptor is non-blocking
#pragma once

#include <infiniband/verbs.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "base/clock.h"
#include "rnic/event_pipe.h"

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
  rnic::EventPipeName pipe() const { return pipe_->name(); }

  void attach(Cq& cq);
  // For an event of that queue that counts as raised. False: there is no room; it has to wait.
  bool raise(std::uint32_t queue);
  // The queue of the oldest event, counted as handed out; null and errno.
  Cq* take();
  // Forgets the events of a queue that is being destroyed.
  void drop(const Cq& cq);
  // Events were raised and nobody takes them: writes their records anew if they are lost, because
  // whoever raised them died before it wrote them, or somebody read them that is not this process.
  void mend();

 private:
  Cq* taken_by(std::uint32_t hint);
  bool may_have_missed();
  void tell_missed();
  // Under mutex_: how many events wait, and a number that differs whenever anything has gone on.
  struct Waiting {
    std::uint32_t events = 0;
    std::uint64_t progress = 0;
  };
  Waiting waiting() const;

  std::optional<rnic::EventPipe> pipe_;
  std::atomic<bool> was_full_{false};
  std::mutex mutex_;
  std::map<std::uint32_t, Cq*> queues_;  // by their number; like what follows under mutex_
  std::uint32_t last_ = 0;               // the queue whose event was found last without a hint
  std::uint64_t silent_progress_ = 0;
  Nanoseconds silent_since_ = 0;  // 0: the pipe was not empty when it was last looked at
};

inline Channel& channel_of(ibv_comp_channel* channel) {
  return *reinterpret_cast<Channel*>(channel);
}

// The device calls this when a completion queue has an event. It outlives the queue, because a
// thread may still be about to raise an event.
class CompletionSignal {
 public:
  explicit CompletionSignal(Channel* channel) : channel_(channel) {}
  bool raise(std::uint32_t queue) {
    const std::lock_guard guard(mutex_);
    return channel_ == nullptr || channel_->raise(queue);
  }
  void mend() {
    const std::lock_guard guard(mutex_);
    if (channel_ != nullptr) channel_->mend();
  }
  void disconnect() {
    const std::lock_guard guard(mutex_);
    channel_ = nullptr;
  }

 private:
  std::mutex mutex_;
  Channel* channel_;
};

}  // namespace gdr::verbs
