#include "rnic/completion_queue.h"

#include <infiniband/verbs.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <mutex>

#include "base/kill_point.h"
#include "rnic/device_clock.h"

namespace gdr::rnic {
namespace {

constexpr std::uint64_t ring_bytes(std::uint32_t capacity) {
  return std::uint64_t{capacity} * (sizeof(SharedCompletion) + sizeof(CompletionAnnex));
}

// What lies behind the completions of a ring: an annex for each of them.
CompletionAnnex* annexes_of(SharedCompletion* entries, std::uint32_t capacity) {
  return reinterpret_cast<CompletionAnnex*>(entries + capacity);
}

void record(CompletionAnnex& annex, std::uint32_t traits, const TagInfo& tag) {
  if ((traits & kRecordsTag) != 0) annex.tag = tag.tag, annex.tag_context = tag.context;
  if ((traits & kRecordsDeviceTime) != 0) annex.device_time = device_clock();
  if ((traits & kRecordsWallTime) != 0) annex.wall_time = wall_clock();
}

// The consumer's line is fetched only when the queue seems to be full. Under the producer lock.
bool has_room(SharedCompletionQueue& shared, std::uint32_t tail, std::uint32_t limit) {
  if (tail - shared.known_head.load(std::memory_order_relaxed) < limit) return true;
  const std::uint32_t head = shared.head.load(std::memory_order_acquire);
  shared.known_head.store(head, std::memory_order_relaxed);
  return tail - head < limit;
}

// Under the producer lock. Whoever delivers it may do so after a poll has taken what it is for.
void make_event(SharedCompletionQueue& shared) {
  shared.armed.store(0, std::memory_order_relaxed);
  shared.told.store(shared.tail.load(std::memory_order_relaxed), std::memory_order_relaxed);
  shared.event.store(1);
}

// For a queue with a channel, after the tail has moved.
Push tell_if_armed(SharedCompletionQueue& shared, bool solicited) {
  // Sequentially consistent against request_notification: either it sees this completion's tail or
  // this sees it armed.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const std::uint32_t armed = shared.armed.load();
  if (armed == 0 || (armed == 1 && !solicited)) return Push::kPushed;
  if (const std::uint32_t count = shared.moderation.load(std::memory_order_relaxed); count > 1) {
    const std::uint32_t held = shared.held.load(std::memory_order_relaxed) + 1;
    shared.held.store(held < count ? held : 0);
    if (held < count) return held == 1 ? Push::kHeld : Push::kPushed;
  }
  make_event(shared);
  return Push::kEventDue;
}

// Holds the producer lock: of this process's own queue, or as an initiator.
class Producer {
 public:
  Producer(SharedLock& shared_lock, Token owner, Token self, Liveness& liveness, const While* held)
      : lock_(shared_lock), held_(held) {
    word_ = lock(lock_, self, liveness, HeldFor::kBookkeeping, held != nullptr ? owner : self);
  }
  ~Producer() {
    if (word_ == 0) return;
    held_ != nullptr ? unlock(lock_, word_, *held_) : unlock(lock_);
  }
  Producer(const Producer&) = delete;
  Producer& operator=(const Producer&) = delete;
  bool has_it() const { return word_ != 0; }

 private:
  SharedLock& lock_;
  const While* const held_;
  std::uint64_t word_;
};

constexpr std::size_t in_sixteens(std::size_t bytes) { return (bytes + 15) & ~std::size_t{15}; }

// What the queue asks for beside a completion. False: this process was cut off.
bool record_beside(CompletionAnnex& annex, std::uint32_t traits, const TagInfo& tag,
                   const While* held) {
  CompletionAnnex recorded{};
  record(recorded, traits, tag);
  constexpr std::size_t kRecorded =
      in_sixteens(sizeof(CompletionAnnex) - offsetof(CompletionAnnex, device_time));
  static_assert(offsetof(CompletionAnnex, device_time) + kRecorded <= sizeof(CompletionAnnex));
  if (held != nullptr) {
    return copy_while(*held, &annex.device_time, &recorded.device_time, kRecorded);
  }
  std::memcpy(&annex.device_time, &recorded.device_time, kRecorded);
  return true;
}

// Writes it, with the bytes that it carries, and counts it.
void append(SharedCompletionQueue& shared, std::uint32_t tail, SharedCompletion& place,
            CompletionAnnex& annex, const SharedCompletion& completion, const std::byte* carried,
            bool solicited) {
  if (completion.carried != 0) std::memcpy(annex.carried, carried, completion.carried);
  place = completion;
  place.solicited = solicited ? 1 : 0;
  shared.tail.store(tail + 1, std::memory_order_release);
}

// The same while this process is not cut off; else false, and it does not count. The sender has
// said in it whether it is solicited, so that it is copied once.
bool append_while(const While& held, SharedCompletionQueue& shared, std::uint32_t tail,
                  SharedCompletion& place, CompletionAnnex& annex,
                  const SharedCompletion& completion, const std::byte* carried) {
  if (completion.carried == 0) {
    return copy_and_store_while(held, &place, &completion, sizeof completion, shared.tail,
                                tail + 1);
  }
  return copy_both_and_store_while(held, {annex.carried, carried, in_sixteens(completion.carried)},
                                   {&place, &completion, sizeof completion}, shared.tail, tail + 1);
}

}  // namespace

Push push_completion(Segment& segment, std::uint32_t queue, const SharedCompletion& completion,
                     const std::byte* carried, bool solicited, Token self, Liveness& liveness,
                     const TagInfo& tag, const While* held) {
  SharedCompletionQueue& shared = segment.completion_queue(queue);
  const Producer guard(shared.producer, read_once(segment.header().token), self, liveness, held);
  if (!guard.has_it()) return Push::kBusy;
  const std::uint32_t capacity = read_once(shared.capacity);
  const std::uint32_t tail = shared.tail.load(std::memory_order_relaxed);
  const std::uint32_t traits = read_once(shared.traits);
  auto* entries =
      static_cast<SharedCompletion*>(segment.arena(read_once(shared.ring), ring_bytes(capacity)));
  if (!is_power_of_two(capacity) || entries == nullptr ||
      !has_room(shared, tail, std::min(read_once(shared.limit), capacity))) {
    if ((traits & kIgnoresOverrun) != 0) return Push::kPushed;
    shared.overrun.store(1, std::memory_order_release);
    return Push::kOverrun;
  }
  const std::uint32_t place = tail & (capacity - 1);
  CompletionAnnex& annex = annexes_of(entries, capacity)[place];
  if ((traits & (kRecordsDeviceTime | kRecordsWallTime | kRecordsTag)) != 0) [[unlikely]] {
    if (!record_beside(annex, traits, tag, held)) return Push::kLost;
  }
  kill_point(completion.receive != 0 ? "pushing_receive" : "pushing");
  if (held == nullptr) {
    append(shared, tail, entries[place], annex, completion, carried, solicited);
  } else if (!append_while(*held, shared, tail, entries[place], annex, completion, carried)) {
    return Push::kLost;
  }
  if ((traits & kRaisesEvents) == 0) return Push::kPushed;
  return tell_if_armed(shared, solicited || completion.status != IBV_WC_SUCCESS);
}

bool has_completed(Segment& segment, std::uint32_t queue, const ReceiveMark& mark, Token self,
                   Liveness& liveness) {
  SharedCompletionQueue& shared = segment.completion_queue(queue);
  const While held = liveness.while_held();
  // Where its owner holds it and does not go on, nothing moves meanwhile.
  const Producer guard(shared.producer, read_once(segment.header().token), self, liveness, &held);
  const std::uint32_t capacity = read_once(shared.capacity);
  const std::uint32_t tail = shared.tail.load(std::memory_order_relaxed);
  const auto* entries = static_cast<const SharedCompletion*>(
      segment.arena(read_once(shared.ring), ring_bytes(capacity)));
  if (!is_power_of_two(capacity) || entries == nullptr) return false;
  // Not the oldest: the next one goes into its place, and whoever died may have begun to write it.
  for (std::uint32_t i = 1; i < capacity; ++i) {
    const SharedCompletion& entry = entries[(tail - i) & (capacity - 1)];
    if (read_once(entry.receive) != mark.receive || read_once(entry.srq) != mark.srq) continue;
    if (mark.srq != 0 || read_once(entry.qp_number) == mark.qp_number) return true;
  }
  return false;
}

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
  return std::unique_ptr<CompletionQueue>(
      new CompletionQueue(segment, regions, index, *ring, self, liveness, std::move(settings)));
}

CompletionQueue::CompletionQueue(Segment& segment, RegionTable& regions, std::uint32_t index,
                                 const Ring& ring, Token self, Liveness& liveness,
                                 CompletionQueueSettings settings)
    : segment_(segment),
      regions_(regions),
      shared_(segment.completion_queue(index)),
      index_(index),
      self_(self),
      liveness_(liveness),
      on_event_(std::move(settings.on_event)) {
  publish(ring);
  shared_.traits = settings.traits | (on_event_ ? kRaisesEvents : 0);
  shared_.moderation.store(0);
  shared_.held.store(0);
  shared_.tail.store(0);
  shared_.head.store(0);
  shared_.known_head.store(0);
  shared_.armed.store(0);
  shared_.event.store(0);
  shared_.told.store(0);
  shared_.overrun.store(0);
  shared_.generation.store(1, std::memory_order_release);
}

CompletionQueue::~CompletionQueue() {
  {
    const LockGuard guard(shared_.producer, self_, liveness_, HeldFor::kBookkeeping);
    shared_.limit = 0;  // whoever pushes now finds no room
    shared_.capacity = 0;
  }
  segment_.free(ring_.offset);
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
    }
  }
  segment_.free(unused);
  if (unused == fresh->offset) return Error{EINVAL, "more completions are there than would fit"};
  return {};
}

void CompletionQueue::place(const SharedCompletion& entry, std::uint32_t position) {
  const std::size_t bytes = std::min<std::uint32_t>(read_once(entry.carried), kCarriedBytes);
  if (bytes == 0) return;
  regions_.place(read_once(entry.carried_key), read_once(entry.carried_to),
                 {ring_.annex(position).carried, bytes});
}

int CompletionQueue::poll(std::span<SharedCompletion> completions, CompletionNotes* notes) {
  return poll(static_cast<std::uint32_t>(completions.size()),
              [&](std::uint32_t i, const SharedCompletion& entry, const CompletionAnnex& annex) {
                completions[i] = entry;
                if (notes == nullptr) return;
                notes[i] = {annex.device_time, annex.wall_time, {annex.tag, annex.tag_context}};
              });
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
  const Push push =
      push_completion(segment_, index_, completion, nullptr, solicited, self_, liveness_);
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
  for (std::uint32_t from = tail; from != head; --from) {
    const SharedCompletion entry = ring_.at(from - 1);
    if (entry.qp_number == qp_number) continue;
    ring_.at(--kept) = entry;
    ring_.annex(kept) = ring_.annex(from - 1);
  }
  head_.store(kept, std::memory_order_relaxed);
  shared_.head.store(kept);
}

bool CompletionQueue::deliver_event() {
  if (shared_.event.exchange(0) == 0) return false;
  if (on_event_) on_event_();
  return true;
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
