// CompletionQueue: completions of this process's queue pairs, pushed by its own threads and by
// initiators in other processes, polled by the application.
//
// The ring lies in the owner's segment. Many producers take turns under the shared producer lock;
// an entry counts once the tail has moved past it, so one that died half-way left nothing. Hot.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "base/spin_lock.h"
#include "rnic/region_table.h"
#include "rnic/segment.h"
#include "rnic/shared_lock.h"

namespace gdr::rnic {

enum class Push {
  kPushed,
  kEventDue,  // pushed, and the queue was armed for it: its owner must be told
  kOverrun,   // full: nothing was stored; the queue is in error
};

// Pushes onto a completion queue in any process's segment, as its owner or as an initiator.
// `carried` has completion.carried bytes.
Push push_completion(Segment& segment, std::uint32_t queue, const SharedCompletion& completion,
                     const std::byte* carried, bool solicited, Token self, Liveness& liveness);

// Whether the ring still holds the completion of a queue pair's receive, polled or not.
bool has_completed(Segment& segment, std::uint32_t queue, std::uint32_t qp_number,
                   std::uint32_t receive, Token self, Liveness& liveness);

class CompletionQueue {
 public:
  // `on_event` is called by whoever pushes in this process, or by its service thread for a push
  // from another; the verbs layer turns it into a readable completion channel.
  static Result<std::unique_ptr<CompletionQueue>> create(Segment& segment, RegionTable& regions,
                                                         std::uint32_t index, std::uint32_t limit,
                                                         Token self, Liveness& liveness,
                                                         std::function<void()> on_event);
  ~CompletionQueue();

  std::uint32_t index() const { return index_; }
  std::uint32_t limit() const { return limit_; }

  // Takes up to completions.size() entries, and places what they carry; -EOVERFLOW-like negative
  // errno after an overrun.
  int poll(std::span<SharedCompletion> completions);
  // Places what those carry that nobody has polled yet: before a region goes, or its bytes are
  // looked at another way.
  void place_carried();
  // Arms it for one event. Completions already there do not count (verbs' rule: poll again after).
  void request_notification(bool solicited_only);
  Push push(const SharedCompletion& completion, bool solicited);
  // Removes what belongs to a queue pair that was reset or destroyed.
  void purge(std::uint32_t qp_number);

  bool overrun() const { return shared_.overrun.load(std::memory_order_acquire) != 0; }
  // Called by the service thread: delivers a due event. True if there was one.
  bool deliver_event();
  // The same when whoever pushed died before the event was due: armed, and something is there.
  bool deliver_missed_event();

  // In a fork's child, which has none of the threads that may have held the lock.
  void child_of_fork() { consumer_.unlock(); }

 private:
  CompletionQueue(Segment& segment, RegionTable& regions, std::uint32_t index, std::uint32_t limit,
                  std::uint32_t capacity, std::uint64_t ring, Token self, Liveness& liveness,
                  std::function<void()> on_event);
  void place(const SharedCompletion& completion, std::uint32_t position);

  Segment& segment_;
  RegionTable& regions_;
  SharedCompletionQueue& shared_;
  const std::uint32_t index_, limit_, capacity_;
  const std::uint64_t ring_;  // own copies: what the shared ones say is not trusted
  SharedCompletion* const entries_;
  const CarriedBytes* const carried_;
  const Token self_;
  Liveness& liveness_;
  const std::function<void()> on_event_;
  SpinLock consumer_;
  std::atomic<std::uint32_t> head_{0};  // written under consumer_; the shared head follows it
};

}  // namespace gdr::rnic
