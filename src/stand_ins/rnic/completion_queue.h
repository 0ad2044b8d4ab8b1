// CompletionQueue: completions of this process's queue pairs, pushed by its own threads and by
// initiators in other processes, polled by the application.
//
// The ring lies in the owner's segment. Many producers take turns under the shared producer lock;
// an entry counts once the tail has moved past it, so one that died half-way left nothing. Hot.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>

#include "base/clock.h"
#include "base/kill_point.h"
#include "base/spin_lock.h"
#include "rnic/bounce_ring.h"
#include "rnic/completion_ring.h"
#include "rnic/event_pipe.h"
#include "rnic/give_way.h"
#include "rnic/region_table.h"
#include "rnic/segment.h"
#include "rnic/shared_lock.h"

namespace gdr::rnic {

enum class Push {
  kPushed,
  kEventDue,  // pushed, and the queue was armed for it: its owner must be told
  kHeld,      // pushed, the first that moderation holds back: its owner's timer must be told
  kOverrun,   // full: nothing was stored; the queue is in error
  // Only of another process's queue. Nothing was stored:
  kBusy,         // its owner holds it and does not go on: again later
  kLost,         // this process was cut off: whatever it held is not its own any more
  kNoRoom,       // for what the completion would carry: it has to go without
  kUnreachable,  // this process cannot map it: a limit of its address space
};

// What a completion carries: completion.carried bytes.
struct Carried {
  const std::byte* few = nullptr;    // up to kCarriedBytes, with room for as many
  std::span<const iovec> many = {};  // more than that: the pieces of the sender's memory
};

// The tag of the message that completed: see tag_list.h.
struct TagInfo {
  std::uint64_t tag = 0;
  std::uint32_t context = 0;
};

// The producer lock that an initiator keeps from one push to the next, of the same list of
// requests.
struct KeptProducer {
  SharedLock* lock = nullptr;  // null: none
  std::uint64_t word = 0;
  bool more = false;  // another push is likely to follow
};
inline void release(KeptProducer& kept, const While& held) {
  if (kept.lock == nullptr) return;
  unlock(*kept.lock, kept.word, held);
  kept.lock = nullptr;
}
// Takes the lock of a queue in `owner`'s segment, unless it is the kept one. False: its owner holds
// it and does not go on.
inline bool keep_producer(SharedLock& producer, Token owner, Token self, Liveness& liveness,
                          const While& held, KeptProducer* kept) {
  if (kept->lock == &producer) return true;
  release(*kept, held);
  const std::uint64_t word = lock(producer, self, liveness, HeldFor::kBookkeeping, owner);
  if (word != 0) kept->lock = &producer, kept->word = word;
  return word != 0;
}

// Pushes onto a completion queue in any process's segment, as its owner or as an initiator. `held`:
// of an initiator, what has lasted since it took the locks under which it pushes; its
// completion.solicited says what `solicited` does. The owner's carry nothing. `kept`: the lock is
// kept in it, or has been.
Push push_completion(Segment& segment, std::uint32_t queue, const SharedCompletion& completion,
                     const Carried& carried, bool solicited, Token self, Liveness& liveness,
                     const TagInfo& tag = {}, const While* held = nullptr,
                     KeptProducer* kept = nullptr);

// Which receive a completion is of: of a queue pair by its number, or of an XRC shared receive
// queue by `srq` (see SharedCompletion), whichever queue pair it came through.
struct ReceiveMark {
  std::uint32_t qp_number = 0;
  std::uint32_t srq = 0;
  std::uint32_t receive = 0;
};

// Whether the ring still holds the completion of that receive, polled or not.
bool has_completed(Segment& segment, std::uint32_t queue, const ReceiveMark& mark, Token self,
                   Liveness& liveness);

// What a queue records beside a completion; 0 where it does not.
struct CompletionNotes {
  std::uint64_t device_time = 0;  // when it was pushed: of the device's clock
  std::uint64_t wall_time = 0;    // nanoseconds since 1970
  TagInfo tag = {};
};

constexpr std::uint32_t kMaxCompletions = 1u << 20;

struct CompletionQueueSettings {
  std::uint32_t limit = 1;   // completions it holds: 1 .. kMaxCompletions
  std::uint32_t traits = 0;  // kRecordsDeviceTime, ...: see shared.h
  // Called by whoever pushes in this process, or by its service thread for a push from another that
  // does not wake the program itself; the verbs layer turns it into a record in the channel's pipe.
  // False: not now; the event stays due.
  std::function<bool(std::uint32_t queue)> on_event = {};
  // Service thread: events were raised and nobody takes them. Their records may be lost.
  std::function<void()> on_unheard = {};
  EventPipeName pipe = {};  // by which other processes raise events
};

class CompletionQueue {
 public:
  static Result<std::unique_ptr<CompletionQueue>> create(Segment& segment, RegionTable& regions,
                                                         std::uint32_t index,
                                                         CompletionQueueSettings settings,
                                                         Token self, Liveness& liveness);
  ~CompletionQueue();

  std::uint32_t index() const { return index_; }
  std::uint32_t limit() const { return ring_.limit; }

  // Takes up to completions.size() entries, and places what they carry; -EOVERFLOW-like negative
  // errno after an overrun. `notes` has room for as many, or is null.
  int poll(std::span<SharedCompletion> completions, CompletionNotes* notes = nullptr);
  // The same, each handed to `take(i, completion, annex)` where it lies: read every field once.
  template <typename Take>
  int poll(std::uint32_t most, const Take& take);
  // Several polls that count as one (the extended interface): each takes the oldest completion and
  // says in `left` how many are behind it. end_batch() then makes the event, if one is due, for
  // what the batch left.
  int poll_in_batch(SharedCompletion& completion, CompletionNotes& notes, std::uint32_t& left);
  void end_batch();
  void found_nothing();  // there was no batch
  // Whether another thread than this one may poll it meanwhile: the last that did, or nobody yet.
  bool is_polled_by_others() const { return poller_.load(std::memory_order_relaxed) != me(); }
  // Places what those carry that nobody has polled yet: before a region goes.
  void place_carried();
  // Arms it for one event. As on ConnectX, what is there already counts, too, so that a program may
  // poll, arm and sleep; but it counts only once polls have taken what the last event was made for:
  // who arms before polling gets no event for what that poll takes.
  void request_notification(bool solicited_only);
  Push push(const SharedCompletion& completion, bool solicited);
  // Makes it hold `limit` completions from now on; what it holds stays, in its order, and others
  // may push meanwhile. EINVAL when more are there, or beyond kMaxCompletions; ENOMEM.
  Result<void> resize(std::uint32_t limit);
  // From now on an event needs `count` completions, or `period` since the first of fewer. A count
  // of 0 or 1 or no period: an event for each, as at first.
  void moderate(std::uint32_t count, Nanoseconds period);
  // Removes what belongs to a queue pair that was reset or destroyed.
  void purge(std::uint32_t qp_number);

  // From here on each poll that finds nothing looks at the tail, and for an overrun: before
  // somebody is told of one.
  void look_at_tail();
  bool overrun() const { return shared_.overrun.load(std::memory_order_acquire) != 0; }
  // Called by the service thread: delivers a due event. True if there was one.
  bool deliver_event();
  // The same for what moderation holds back, once its period is over. True: it is not; come again.
  bool deliver_held_event();
  // The same for what nobody makes an event of: armed, and something is there, whose producer died
  // or was earlier than the arming.
  enum class Moderated { kNo, kYes };
  bool deliver_missed_event(Moderated moderated);
  bool misses_event() const;  // whether the former would find something to do. Hot
  // The same for events that were raised and nobody takes.
  void look_after_raised();
  // Takes an event that was raised. False: there is none.
  bool take_event();
  // For a queue that is being destroyed: how many events were raised and not taken; none is left.
  std::uint32_t drop_events();
  // Changes whenever a completion or an event comes or goes.
  std::uint64_t progress() const;
  std::uint32_t raised_events() const;

  // Nothing is in it, and nobody is taking something out. Cold.
  bool is_idle();

  // In a fork's child, which has none of the threads that may have held the lock.
  void child_of_fork() { consumer_.unlock(); }

 private:
  // Own copies: what the shared ones say is not trusted.
  struct Ring {
    std::uint64_t offset = 0;
    std::uint32_t limit = 0, capacity = 0;
    SharedCompletion* entries = nullptr;
    CompletionAnnex* annexes = nullptr;

    SharedCompletion& at(std::uint32_t position) const {
      return entries[position & (capacity - 1)];
    }
    CompletionAnnex& annex(std::uint32_t position) const {
      return annexes[position & (capacity - 1)];
    }
  };
  static std::uint64_t allocate_bounce(Segment& segment, std::uint32_t index);
  static Result<Ring> allocate(Segment& segment, std::uint32_t limit);
  CompletionQueue(Segment& segment, RegionTable& regions, std::uint32_t index, const Ring& ring,
                  std::uint64_t bounce, Token self, Liveness& liveness,
                  CompletionQueueSettings settings);
  template <typename Take>
  int take_up_to(std::uint32_t most, const Take& take, std::uint32_t& left);
  template <typename Take>
  int take_marked(std::uint32_t most, const Take& take);
  template <typename Take>
  void take_one(std::uint32_t i, std::uint32_t position, const Take& take);
  void move_head(std::uint32_t head);
  bool is_to_look_at_tail();
  bool gave_way();
  void distrust_marks(std::uint32_t tail);
  static const void* me() { return __builtin_thread_pointer(); }
  void note_poller() {
    if (is_polled_by_others()) poller_.store(me(), std::memory_order_relaxed);
  }
  void place(const SharedCompletion& entry, std::uint32_t position);
  bool holds_solicited() const;
  bool holds_untold() const;
  void publish(const Ring& ring);

  Segment& segment_;
  RegionTable& regions_;
  SharedCompletionQueue& shared_;
  const std::uint32_t index_;
  const Token self_;
  Liveness& liveness_;
  const std::function<bool(std::uint32_t)> on_event_;
  const std::function<void()> on_unheard_;
  const std::uint64_t bounce_;           // offset of the bounce ring; 0: none
  const std::byte* const bounce_bytes_;  // itself
  SpinLock consumer_;
  Ring ring_;                           // under consumer_, and changed under the producer lock, too
  std::atomic<std::uint32_t> head_{0};  // written under consumer_; the shared head follows it
  std::atomic<const void*> poller_{nullptr};  // the thread that polled last
  // The place of the next completion, and its mark, for polls without the lock; null while the
  // marks of this ring say nothing: until a whole round of it has been written, or for ever where
  // the tail tells more (events). Written under consumer_.
  std::atomic<SharedCompletion*> next_{nullptr};
  std::atomic<std::uint16_t> next_mark_{0};
  std::uint32_t marked_from_ = 0;  // under consumer_: the position where that ends
  bool looks_at_tail_;             // under consumer_: for ever
  std::atomic<const CompletionAnnex*> next_annex_{nullptr};  // of next_
  std::atomic<std::uint32_t> unmarked_polls_{0};             // that found no mark
  std::atomic<Nanoseconds> looked_at_{0};                    // the tail
  std::atomic<std::uint32_t> head_at_look_{0};
  GiveWay give_way_;
  std::atomic<Nanoseconds> period_{0};
  Nanoseconds held_since_ = 0;  // service thread; 0: it has seen nothing held
};

// A poll that finds no mark mostly looks at nothing else: see mark_of().
// A look fetches a line that the producer is about to store to, so there are not many in a time,
// however many polls there are.
constexpr std::uint32_t kPollsForALook = 64;
constexpr Nanoseconds kTimeForALook = 20 * kMicrosecond;

inline bool CompletionQueue::is_to_look_at_tail() {
  const std::uint32_t polls = unmarked_polls_.load(std::memory_order_relaxed) + 1;
  unmarked_polls_.store(polls, std::memory_order_relaxed);
  if (polls % kPollsForALook != 0) return false;
  const Nanoseconds time = now();
  if (time - looked_at_.load(std::memory_order_relaxed) < kTimeForALook) return false;
  looked_at_.store(time, std::memory_order_relaxed);
  return true;
}

inline void CompletionQueue::found_nothing() {
  if (is_to_look_at_tail()) gave_way();
}

template <typename Take>
int CompletionQueue::poll(std::uint32_t most, const Take& take) {
  bool looks = false;
  if (SharedCompletion* next = next_.load(std::memory_order_relaxed)) {
    if (mark_in(*next).load(std::memory_order_acquire) ==
        next_mark_.load(std::memory_order_relaxed)) {
      if (const int taken = take_marked(most, take)) return taken;
    } else {
      // What it carries then comes along with it, and not after it.
      __builtin_prefetch(next_annex_.load(std::memory_order_relaxed));
      if (!is_to_look_at_tail()) return 0;
      looks = true;
    }
  }
  std::uint32_t left = 0;
  int taken = take_up_to(most, take, left);
  if (taken == 0 && (looks || is_to_look_at_tail()) && gave_way()) {
    taken = take_up_to(most, take, left);
  }
  if (left != 0) end_batch();
  return taken;
}

// As take_up_to(), by the marks: as many as have one.
template <typename Take>
int CompletionQueue::take_marked(std::uint32_t most, const Take& take) {
  note_poller();
  const std::lock_guard guard(consumer_);
  if (next_.load(std::memory_order_relaxed) == nullptr) return 0;
  const std::uint32_t head = head_.load(std::memory_order_relaxed);
  std::uint32_t taken = 0;
  for (; taken < most; ++taken) {
    const std::uint32_t position = head + taken;
    if (mark_in(ring_.at(position)).load(std::memory_order_acquire) !=
        mark_of(position, ring_.capacity)) {
      break;
    }
    take_one(taken, position, take);
  }
  move_head(head + taken);
  return static_cast<int>(taken);
}

template <typename Take>
int CompletionQueue::take_up_to(std::uint32_t most, const Take& take, std::uint32_t& left) {
  left = 0;
  note_poller();
  // Without the lock: most polls find nothing.
  if (shared_.tail.load(std::memory_order_acquire) == head_.load(std::memory_order_relaxed)) {
    return overrun() ? -1 : 0;
  }
  const std::lock_guard guard(consumer_);
  const std::uint32_t head = head_.load(std::memory_order_relaxed);
  std::uint32_t available = shared_.tail.load(std::memory_order_acquire) - head;
  if (available == 0) return overrun() ? -1 : 0;
  if (available > ring_.capacity) return -1;  // a peer scribbled over the tail
  left = available - std::min(available, most);
  available -= left;
  for (std::uint32_t i = 0; i < available; ++i) take_one(i, head + i, take);
  move_head(head + available);
  return static_cast<int>(available);
}

template <typename Take>
void CompletionQueue::take_one(std::uint32_t i, std::uint32_t position, const Take& take) {
  const SharedCompletion& entry = ring_.at(position);
  take(i, entry, ring_.annex(position));
  if (read_once(entry.carried) != 0) place(entry, position);
  const std::uint32_t receive = read_once(entry.receive);
  if (receive != 0 && read_once(entry.srq) == 0) {
    segment_.queue_pair(index_of_qp(read_once(entry.qp_number)))
        .polled_head.store(receive, std::memory_order_relaxed);
  }
}

}  // namespace gdr::rnic
