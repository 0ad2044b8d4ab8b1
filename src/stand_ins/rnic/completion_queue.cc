// A completion queue as its owner has it; pushing is in completion_push.cc.
#include "rnic/completion_queue.h"

#include <infiniband/verbs.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <mutex>

#include "rnic/completion_ring.h"
#include "rnic/due.h"

namespace gdr::rnic {
namespace {

// One that the tail has shown may get its mark just now, which nobody looks at in the copy: the
// word that it is in is read as one.
SharedCompletion copy_of(const SharedCompletion& entry) {
  constexpr std::size_t kWord = offsetof(SharedCompletion, service_level);
  constexpr std::size_t kBehind = offsetof(SharedCompletion, carried_to);
  static_assert(kBehind - kWord == sizeof(std::uint64_t) && kWord % sizeof(std::uint64_t) == 0);
  const auto* from = reinterpret_cast<const std::byte*>(&entry);
  SharedCompletion copy;
  auto* to = reinterpret_cast<std::byte*>(&copy);
  const std::uint64_t word =
      __atomic_load_n(reinterpret_cast<const std::uint64_t*>(from + kWord), __ATOMIC_RELAXED);
  std::memcpy(to, from, kWord);
  std::memcpy(to + kWord, &word, sizeof word);
  std::memcpy(to + kBehind, from + kBehind, sizeof copy - kBehind);
  return copy;
}

}  // namespace

Result<CompletionQueue::Ring> CompletionQueue::allocate(Segment& segment, std::uint32_t limit) {
  if (limit == 0 || limit > kMaxCompletions) {
    return Error{EINVAL, "a completion queue holds 1 to 1048576 completions"};
  }
  Ring ring{.limit = limit, .capacity = std::bit_ceil(limit)};
  const std::uint64_t bytes = ring_bytes(ring.capacity);
  Result<std::uint64_t> offset = segment.allocate(bytes);
  if (!offset) return offset.error();
  ring.offset = *offset;
  ring.entries = static_cast<SharedCompletion*>(segment.arena(*offset, bytes));
  ring.annexes = annexes_of(ring.entries, ring.capacity);
  return ring;
}

Result<std::unique_ptr<CompletionQueue>> CompletionQueue::create(Segment& segment,
                                                                 RegionTable& regions,
                                                                 std::uint32_t index,
                                                                 CompletionQueueSettings settings,
                                                                 Token self, Liveness& liveness) {
  const Result<Ring> ring = allocate(segment, settings.limit);
  if (!ring) return ring.error();
  return std::unique_ptr<CompletionQueue>(new CompletionQueue(segment, regions, index, *ring,
                                                              allocate_bounce(segment, index), self,
                                                              liveness, std::move(settings)));
}

// Without one it works as well, if slower.
std::uint64_t CompletionQueue::allocate_bounce(Segment& segment, std::uint32_t index) {
  if (index >= kBounceRings) return 0;
  const Result<std::uint64_t> offset = segment.allocate(kBounceRingBytes);
  return offset ? *offset : 0;
}

CompletionQueue::CompletionQueue(Segment& segment, RegionTable& regions, std::uint32_t index,
                                 const Ring& ring, std::uint64_t bounce, Token self,
                                 Liveness& liveness, CompletionQueueSettings settings)
    : segment_(segment),
      regions_(regions),
      shared_(segment.completion_queue(index)),
      index_(index),
      self_(self),
      liveness_(liveness),
      on_event_(std::move(settings.on_event)),
      on_unheard_(std::move(settings.on_unheard)),
      bounce_(bounce),
      bounce_bytes_(bounce != 0
                        ? static_cast<const std::byte*>(segment.arena(bounce, kBounceRingBytes))
                        : nullptr),
      looks_at_tail_(static_cast<bool>(on_event_)) {
  publish(ring);
  distrust_marks(0);
  shared_.bounce = bounce_;
  shared_.bounce_tail.store(0);
  shared_.bounce_head.store(0);
  shared_.known_bounce_head.store(0);
  shared_.traits = settings.traits | (on_event_ ? kRaisesEvents : 0);
  shared_.moderation.store(0);
  shared_.held.store(0);
  shared_.tail.store(0);
  shared_.head.store(0);
  shared_.known_head.store(0);
  shared_.armed.store(0);
  shared_.event.store(0);
  shared_.told.store(0);
  shared_.pipe_descriptor = settings.pipe.descriptor;
  shared_.pipe_inode = settings.pipe.inode;
  shared_.overrun.store(0);
  shared_.generation.store(1, std::memory_order_release);
}

CompletionQueue::~CompletionQueue() {
  {
    const LockGuard guard(shared_.producer, self_, liveness_, HeldFor::kBookkeeping);
    shared_.limit = 0;  // whoever pushes now finds no room
    shared_.capacity = 0;
    shared_.bounce = 0;
  }
  segment_.free(ring_.offset);
  if (bounce_ != 0) segment_.free(bounce_);
  shared_.generation.store(0);  // last: the place may be taken again from here on
}

void CompletionQueue::publish(const Ring& ring) {
  ring_ = ring;
  shared_.capacity = ring.capacity;
  shared_.limit = ring.limit;
  shared_.ring = ring.offset;
}

Result<void> CompletionQueue::resize(std::uint32_t limit) {
  const Result<Ring> fresh = allocate(segment_, limit);
  if (!fresh) return fresh.error();
  std::uint64_t unused = fresh->offset;
  {
    const std::lock_guard consumer(consumer_);
    const LockGuard producer(shared_.producer, self_, liveness_, HeldFor::kBookkeeping);
    const std::uint32_t head = head_.load(std::memory_order_relaxed), tail = shared_.tail.load();
    // Not the limit alone: another process may have written anything over the tail.
    if (tail - head <= std::min(limit, ring_.capacity)) {
      for (std::uint32_t at = head; at != tail; ++at) {
        fresh->at(at) = ring_.at(at);
        fresh->annex(at) = ring_.annex(at);
      }
      unused = ring_.offset;
      publish(*fresh);
      distrust_marks(tail);
    }
  }
  segment_.free(unused);
  if (unused == fresh->offset) return Error{EINVAL, "more completions are there than would fit"};
  return {};
}

// Under consumer_.
void CompletionQueue::move_head(std::uint32_t head) {
  kill_point("poll_cq");
  head_.store(head, std::memory_order_relaxed);
  shared_.head.store(head, std::memory_order_release);
  if (looks_at_tail_ || static_cast<std::int32_t>(head - marked_from_) < 0) return;
  next_mark_.store(mark_of(head, ring_.capacity), std::memory_order_relaxed);
  next_annex_.store(&ring_.annex(head), std::memory_order_relaxed);
  next_.store(&ring_.at(head), std::memory_order_relaxed);
}

void CompletionQueue::look_at_tail() {
  const std::lock_guard guard(consumer_);
  looks_at_tail_ = true;
  next_.store(nullptr, std::memory_order_relaxed);
}

// After a look that found nothing. True: others have run, and something may have come.
bool CompletionQueue::gave_way() {
  const std::uint32_t head = head_.load(std::memory_order_relaxed);
  if (head_at_look_.exchange(head, std::memory_order_relaxed) != head) return false;
  const Nanoseconds since = looked_at_.load(std::memory_order_relaxed);
  if (!give_way_.after_idle_look(since)) return false;
  if (shared_.tail.load(std::memory_order_acquire) != head) return true;
  give_way_.was_in_vain(since);
  return false;
}

// What lies at the positions before `tail` has marks of another ring, or of other positions.
void CompletionQueue::distrust_marks(std::uint32_t tail) {
  next_.store(nullptr, std::memory_order_relaxed);
  marked_from_ = tail + ring_.capacity;
}

void CompletionQueue::place(const SharedCompletion& entry, std::uint32_t position) {
  const std::uint32_t bytes = read_once(entry.carried);
  if (bytes == 0) return;
  const std::uint32_t key = read_once(entry.carried_key);
  const std::uint64_t to = read_once(entry.carried_to);
  if (bytes <= kCarriedBytes)
    return regions_.place(key, to, {ring_.annex(position).carried, bytes});
  const std::uint32_t at = read_once(entry.bounced_at);
  const std::span<const std::byte> held = bounced(bounce_bytes_, at, bytes);
  if (!held.empty()) regions_.place(key, to, held);
  shared_.bounce_head.store(behind_bounced(at, bytes), std::memory_order_release);
}

int CompletionQueue::poll(std::span<SharedCompletion> completions, CompletionNotes* notes) {
  return poll(static_cast<std::uint32_t>(completions.size()),
              [&](std::uint32_t i, const SharedCompletion& entry, const CompletionAnnex& annex) {
                completions[i] = copy_of(entry);
                if (notes == nullptr) return;
                notes[i] = {annex.device_time, annex.wall_time, {annex.tag, annex.tag_context}};
              });
}

int CompletionQueue::poll_in_batch(SharedCompletion& completion, CompletionNotes& notes,
                                   std::uint32_t& left) {
  return take_up_to(
      1,
      [&](std::uint32_t, const SharedCompletion& entry, const CompletionAnnex& annex) {
        completion = copy_of(entry);
        notes = {annex.device_time, annex.wall_time, {annex.tag, annex.tag_context}};
      },
      left);
}

void CompletionQueue::end_batch() {
  if (shared_.armed.load(std::memory_order_relaxed) != 0) deliver_missed_event(Moderated::kNo);
}

void CompletionQueue::place_carried() {
  const std::lock_guard guard(consumer_);
  const std::uint32_t tail = shared_.tail.load(std::memory_order_acquire);
  std::uint32_t position = head_.load(std::memory_order_relaxed);
  if (tail - position > ring_.capacity) return;
  for (; position != tail; ++position) {
    SharedCompletion& entry = ring_.at(position);
    place(entry, position);
    entry.carried = 0;
  }
}

bool CompletionQueue::is_idle() {
  const std::unique_lock guard(consumer_, std::try_to_lock);
  return guard &&
         shared_.tail.load(std::memory_order_acquire) == head_.load(std::memory_order_relaxed);
}

// Who polls a completion and arms again before its producer has looked whether the queue is armed
// gets one event for both armings. It comes after the second, so who arms and waits misses none.
void CompletionQueue::request_notification(bool solicited_only) {
  std::uint32_t armed = shared_.armed.load(std::memory_order_relaxed);
  // A request for any completion is not weakened by a later one for solicited ones.
  const std::uint32_t wanted = solicited_only && armed != 2 ? 1 : 2;
  shared_.armed.store(wanted);
  if (holds_untold()) deliver_missed_event(Moderated::kNo);
}

// Whether something is there, and what the last event was made for is not.
bool CompletionQueue::holds_untold() const {
  const std::uint32_t tail = shared_.tail.load(), head = shared_.head.load();
  const std::uint32_t told = shared_.told.load(std::memory_order_relaxed);
  return tail != head && told - head - 1 >= tail - head;
}

Push CompletionQueue::push(const SharedCompletion& completion, bool solicited) {
  const Push push = push_completion(segment_, index_, completion, {}, solicited, self_, liveness_);
  if (push == Push::kEventDue) deliver_event();
  return push;
}

void CompletionQueue::purge(std::uint32_t qp_number) {
  const std::lock_guard consumer(consumer_);
  const LockGuard producer(shared_.producer, self_, liveness_, HeldFor::kBookkeeping);
  const std::uint32_t head = head_.load(std::memory_order_relaxed);
  const std::uint32_t tail = shared_.tail.load();
  if (tail - head > ring_.capacity) return;
  // Keeps the order of what stays by moving it towards the tail's end of the ring.
  std::uint32_t kept = tail;
  bool keeps_bounced = false;
  for (std::uint32_t from = tail; from != head; --from) {
    const SharedCompletion entry = ring_.at(from - 1);
    if (entry.qp_number == qp_number) continue;
    keeps_bounced = keeps_bounced || entry.carried > kCarriedBytes;
    ring_.at(--kept) = entry;
    ring_.annex(kept) = ring_.annex(from - 1);
  }
  head_.store(kept, std::memory_order_relaxed);
  shared_.head.store(kept);
  distrust_marks(tail);
  // What stays gives back the room of what went before it, once it is polled; what lies there
  // itself alone knows how far.
  if (!keeps_bounced) shared_.bounce_head.store(shared_.bounce_tail.load());
}

bool CompletionQueue::deliver_event() {
  if (!claim_event(shared_)) return false;
  if (on_event_ && !on_event_(index_)) {
    return_event(shared_);
    // Whoever makes room wakes the service thread.
    mark_due(segment_.header().due_completion_queues, index_);
  }
  return true;
}

bool CompletionQueue::misses_event() const {
  return shared_.armed.load() != 0 &&
         shared_.tail.load() != shared_.head.load(std::memory_order_relaxed);
}

std::uint64_t CompletionQueue::progress() const {
  return std::uint64_t{shared_.tail.load()} << 32 | shared_.event.load();
}

bool CompletionQueue::take_event() { return rnic::take_event(shared_); }

std::uint32_t CompletionQueue::drop_events() { return shared_.event.exchange(0) / kEventRaised; }

std::uint32_t CompletionQueue::raised_events() const { return shared_.event.load() / kEventRaised; }

void CompletionQueue::look_after_raised() {
  if (on_unheard_ && raised_events() != 0) on_unheard_();
}

void CompletionQueue::moderate(std::uint32_t count, Nanoseconds period) {
  period_.store(period);
  shared_.moderation.store(period == 0 ? 0 : count);
}

bool CompletionQueue::deliver_held_event() {
  if (shared_.held.load() == 0) {
    held_since_ = 0;
    return false;
  }
  const Nanoseconds time = now();
  if (held_since_ == 0) held_since_ = time;
  if (shared_.moderation.load() > 1 && time - held_since_ < period_.load()) return true;
  held_since_ = 0;
  {
    const LockGuard producer(shared_.producer, self_, liveness_, HeldFor::kBookkeeping);
    if (shared_.held.exchange(0) == 0) return false;
    make_event(shared_);
  }
  deliver_event();
  return false;
}

// Whether there is something that an arming for solicited completions asks for.
bool CompletionQueue::holds_solicited() const {
  const std::uint32_t tail = shared_.tail.load();
  std::uint32_t at = shared_.head.load();
  if (tail - at > ring_.capacity) return false;
  for (; at != tail; ++at) {
    const SharedCompletion& entry = ring_.at(at);
    if (read_once(entry.solicited) != 0 || read_once(entry.status) != IBV_WC_SUCCESS) {
      return true;
    }
  }
  return false;
}

bool CompletionQueue::deliver_missed_event(Moderated moderated) {
  {
    const LockGuard producer(shared_.producer, self_, liveness_, HeldFor::kBookkeeping);
    const std::uint32_t armed = shared_.armed.load();
    if (armed == 0 || shared_.tail.load() == shared_.head.load()) return false;
    if (armed == 1 && !holds_solicited()) return false;
    if (moderated == Moderated::kYes && shared_.moderation.load() > 1) {
      if (shared_.held.load() == 0) shared_.held.store(1);  // the period brings it
      return false;
    }
    shared_.held.store(0);
    make_event(shared_);
  }
  return deliver_event();
}

}  // namespace gdr::rnic
