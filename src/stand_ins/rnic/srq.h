// Srq: a shared receive queue of this process: receives that any of its queue pairs may take.
//
//   std::shared_ptr<Srq> srq = *adapter.create_srq({.protection_domain = pd, .max_requests = 64});
//   srq->post(list, &bad);
//   srq->set_limit(8);        // one IBV_EVENT_SRQ_LIMIT_REACHED once fewer than 8 are left
//
// The ring lies in the owner's segment. An initiator takes a receive for the queue pair whose
// responder lock it holds, and puts it into that queue pair's own ring of one: from there on it is
// that queue pair's, is found again by a request that had to wait, and is flushed with it.
#pragma once

#include <infiniband/verbs.h>

#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>

#include "base/spin_lock.h"
#include "rnic/completion_queue.h"
#include "rnic/events.h"
#include "rnic/receive_ring.h"
#include "rnic/shared_lock.h"
#include "rnic/tag_list.h"

namespace gdr::rnic {

class Adapter;

struct SrqSettings {
  std::uint32_t protection_domain = 0;
  std::uint32_t max_requests = 1;  // query() says how many there are: see granted_requests()
  std::uint32_t max_segments = 1;
  // For XRC and for matched tags: where all of its receives complete.
  std::shared_ptr<CompletionQueue> completion_queue{};
  XrcDomain xrc_domain{};      // of an XRC one: who may name it
  std::uint32_t max_tags = 0;  // not 0: it matches tags
  std::shared_ptr<EventQueue> events;
  void* verbs_object = nullptr;  // named by asynchronous events
};

constexpr std::uint32_t kMaxSrqRequests = 32767;
// As a ConnectX gives them: a power of two, without the place that keeps its ring from being full.
constexpr std::uint32_t granted_requests(std::uint32_t asked) {
  return std::bit_ceil(asked + 1) - 1;
}
static_assert(granted_requests(kMaxSrqRequests) == kMaxSrqRequests);

// Under `consumer`, taken over from the dead: what they had begun is finished or undone, so that
// each receive is there or has been completed, once.
void mend(Segment& segment, std::uint32_t index, Token self, Liveness& liveness);

// Holds `consumer`, and has finished what a dead holder had begun. has_it() is false where its
// owner holds it and does not go on, which only other processes find.
class SrqGuard {
 public:
  SrqGuard(Segment& segment, std::uint32_t index, Token self, Liveness& liveness);
  ~SrqGuard();
  SrqGuard(const SrqGuard&) = delete;
  SrqGuard& operator=(const SrqGuard&) = delete;
  bool has_it() const { return word_ != 0; }
  const While& held() const { return held_; }

 private:
  SharedSrq& srq_;
  const While held_;
  std::uint64_t word_;
};

enum class SrqTake {
  kNone,
  kTaken,
  kLimitReached,  // taken, and its owner must be told to raise the event
};

// Moves the first receive into the ring of a queue pair whose responder lock the caller holds and
// whose ring is empty. As owner or as initiator. Hot.
SrqTake take_receive(Segment& segment, std::uint32_t index, std::uint32_t queue_pair, Token self,
                     Liveness& liveness);

// One fewer is there. True: the limit is reached, and the owner must be told.
bool reaches_limit(SharedSrq& srq, std::uint32_t left);

// Has the owner wake the process of `self` at its next post. Look again afterwards.
void wait_for_post(SharedSrq& srq, Token self);

class Srq {
 public:
  // Use Adapter::create_srq.
  Srq(Adapter& adapter, std::uint32_t index, const SrqSettings& settings);
  ~Srq();
  Result<void> allocate();

  std::uint32_t index() const { return index_; }
  std::uint32_t number() const;  // what XRC requests call it
  const SrqSettings& settings() const { return settings_; }
  SharedSrq& shared() { return shared_; }

  // 0 or an errno value.
  int post(const ibv_recv_wr* list, const ibv_recv_wr** bad);
  int set_limit(std::uint32_t limit);
  // EINVAL when more than that many are posted now.
  int resize(std::uint32_t max_requests);
  // max_wr and max_sge as granted; the limit, or 0 when it is not armed.
  ibv_srq_attr query() const;

  // The tail of the ring of a queue pair that takes from here, with nothing on its way into it any
  // more. The caller holds the queue pair's responder lock.
  std::uint32_t settled_tail(const SharedQueuePair& queue_pair);

  // --- Of one that matches tags: srq_tags.cc. 0 or an errno value.
  bool matches_tags() const { return tags_ != nullptr; }
  int operate(ibv_ops_wr* list, ibv_ops_wr** bad);
  // A message that was announced has been read into the tagged receive, or could not be.
  void fetched(std::uint32_t tag, bool complete_and_right);

  // No XRC request names it any more, and none is under way, when this returns.
  void close();

  // Its completion queue, if it is that one, is in error: no request may name it any more.
  void lose_completion_queue(const CompletionQueue& queue);

  // Service thread: raises a due event, mends what a dead initiator has left, starts to read what
  // was announced. True: something is left, come again soon.
  bool serve();
  // In a fork's child: see QueuePair::child_of_fork.
  void child_of_fork() {
    post_lock_.unlock();
    closed_ = true;
  }

 private:
  std::uint32_t places_for(std::uint32_t requests) const;
  std::uint32_t posted() const;
  void wake_waiters();
  void mend_if_orphaned();
  int operate_one(ibv_ops_wr& operation);
  bool serve_rendezvous();
  bool start_fetching(std::uint32_t index);

  Adapter& adapter_;
  const std::uint32_t index_;
  SrqSettings settings_;
  SharedSrq& shared_;
  mutable SpinLock post_lock_;
  bool closed_ = false;
  std::uint32_t tail_ = 0, capacity_ = 0, stride_ = 0;  // own copies of what is shared
  std::uint64_t ring_ = 0;
  std::byte* receives_ = nullptr;
  std::unique_ptr<TagList> tags_;
  std::uint32_t unexpected_seen_ = 0;  // by the program; under `consumer`
};

}  // namespace gdr::rnic
