// Pushing completions, onto any process's queue. Hot.
#include <infiniband/verbs.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <optional>

#include "base/kill_point.h"
#include "rnic/completion_queue.h"
#include "rnic/completion_ring.h"
#include "rnic/device_clock.h"
#include "rnic/due.h"

namespace gdr::rnic {
namespace {

void record(CompletionAnnex& annex, std::uint32_t traits, const TagInfo& tag) {
  if ((traits & kRecordsTag) != 0) annex.tag = tag.tag, annex.tag_context = tag.context;
  if ((traits & kRecordsDeviceTime) != 0) annex.device_time = device_clock();
  if ((traits & kRecordsWallTime) != 0) annex.wall_time = wall_clock();
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

// Holds the producer lock: of this process's own queue, or as an initiator, who may keep it.
class Producer {
 public:
  Producer(SharedLock& shared_lock, Token owner, Token self, Liveness& liveness, const While* held,
           KeptProducer* kept = nullptr)
      : lock_(shared_lock), held_(held), kept_(kept) {
    if (kept_ == nullptr) {
      word_ = lock(lock_, self, liveness, HeldFor::kBookkeeping, held != nullptr ? owner : self);
    } else {
      word_ = keep_producer(lock_, owner, self, liveness, *held_, kept_) ? kept_->word : 0;
    }
  }
  ~Producer() {
    if (word_ == 0 || kept_ != nullptr) return;
    held_ != nullptr ? unlock(lock_, word_, *held_) : unlock(lock_);
  }
  Producer(const Producer&) = delete;
  Producer& operator=(const Producer&) = delete;
  bool has_it() const { return word_ != 0; }

 private:
  SharedLock& lock_;
  const While* const held_;
  KeptProducer* const kept_;
  std::uint64_t word_;
};

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

// All but its mark, which polls look at meanwhile, becomes the other's.
void write_unmarked(SharedCompletion& place, const SharedCompletion& completion) {
  constexpr std::size_t kMark = offsetof(SharedCompletion, mark);
  constexpr std::size_t kBehind = kMark + sizeof completion.mark;
  auto* to = reinterpret_cast<std::byte*>(&place);
  const auto* from = reinterpret_cast<const std::byte*>(&completion);
  std::memcpy(to, from, kMark);
  std::memcpy(to + kBehind, from + kBehind, sizeof completion - kBehind);
  mark_in(place).store(0, std::memory_order_relaxed);
}

// Writes it, with what it carries in its annex, and counts it.
void append(SharedCompletionQueue& shared, std::uint32_t tail, SharedCompletion& place,
            CompletionAnnex& annex, const SharedCompletion& completion, const std::byte* carried,
            bool solicited, std::uint16_t mark) {
  if (carried != nullptr) std::memcpy(annex.carried, carried, completion.carried);
  write_unmarked(place, completion);
  place.solicited = solicited ? 1 : 0;
  shared.tail.store(tail + 1, std::memory_order_release);
  mark_in(place).store(mark, std::memory_order_release);
}

constexpr std::uint64_t pair(std::uint64_t low, std::uint64_t high) { return low | high << 32; }

// As its bytes lie in memory, without a mark.
[[gnu::always_inline]] inline SixtyFour in_registers(const SharedCompletion& one) {
  static_assert(std::endian::native == std::endian::little);
  static_assert(offsetof(SharedCompletion, opcode) == 12 &&
                offsetof(SharedCompletion, bytes) == 20);
  static_assert(offsetof(SharedCompletion, qp_number) == 28 &&
                offsetof(SharedCompletion, flags) == 36);
  static_assert(
      offsetof(SharedCompletion, service_level) == 40 &&
      offsetof(SharedCompletion, solicited) == 41 && offsetof(SharedCompletion, srq) == 42 &&
      offsetof(SharedCompletion, carried) == 44 && offsetof(SharedCompletion, mark) == 46);
  static_assert(offsetof(SharedCompletion, carried_to) == 48 &&
                offsetof(SharedCompletion, receive) == 60);
  // Each field as it was stored, by itself: the compiler would read several at once.
  const auto part = [](const auto& field) -> std::uint64_t { return read_once(field); };
  const std::uint64_t shorts = part(one.service_level) | part(one.solicited) << 8 |
                               part(one.srq) << 16 | part(one.carried) << 32;
  return {{Sixteen{part(one.wr_id), pair(part(one.status), part(one.opcode))},
           Sixteen{pair(part(one.bounced_at), part(one.bytes)),
                   pair(part(one.immediate), part(one.qp_number))},
           Sixteen{pair(part(one.source_qp), part(one.flags)), shorts},
           Sixteen{part(one.carried_to), pair(part(one.carried_key), part(one.receive))}}};
}

// The same while this process is not cut off; else false, and it does not count. The sender has
// said in it whether it is solicited, so that it is copied once.
bool append_while(const While& held, SharedCompletionQueue& shared, std::uint32_t tail,
                  SharedCompletion& place, CompletionAnnex& annex,
                  const SharedCompletion& completion, const std::byte* carried) {
  const std::size_t bytes = carried != nullptr ? in_sixteens(completion.carried) : 0;
  return copy_both_and_store_while(held, {annex.carried, carried, bytes}, &place,
                                   in_registers(completion), shared.tail, tail + 1);
}

}  // namespace

Push push_completion(Segment& segment, std::uint32_t queue, const SharedCompletion& completion,
                     const Carried& carried, bool solicited, Token self, Liveness& liveness,
                     const TagInfo& tag, const While* held, KeptProducer* kept) {
  SharedCompletionQueue& shared = segment.completion_queue(queue);
  const Producer guard(shared.producer, read_once(segment.header().token), self, liveness, held,
                       kept);
  if (!guard.has_it()) return Push::kBusy;
  const std::uint32_t capacity = read_once(shared.capacity);
  const std::uint32_t tail = shared.tail.load(std::memory_order_relaxed);
  const std::uint32_t traits = read_once(shared.traits);
  const std::uint64_t ring = read_once(shared.ring);
  auto* entries = static_cast<SharedCompletion*>(segment.arena(ring, ring_bytes(capacity)));
  if (entries == nullptr && Segment::is_in_arena(ring, ring_bytes(capacity))) {
    return Push::kUnreachable;
  }
  if (!is_power_of_two(capacity) || entries == nullptr ||
      !queue_has_room(shared, tail, std::min(read_once(shared.limit), capacity))) {
    if ((traits & kIgnoresOverrun) != 0) return Push::kPushed;
    shared.overrun.store(1, std::memory_order_release);
    mark_due(segment.header().due_completion_queues, queue);
    return Push::kOverrun;
  }
  const std::uint32_t place = tail & (capacity - 1);
  CompletionAnnex& annex = annexes_of(entries, capacity)[place];
  if ((traits & (kRecordsDeviceTime | kRecordsWallTime | kRecordsTag)) != 0) [[unlikely]] {
    if (!record_beside(annex, traits, tag, held)) return Push::kLost;
  }
  const std::byte* few = completion.carried != 0 ? carried.few : nullptr;
  const SharedCompletion* what = &completion;
  std::optional<SharedCompletion> with_place;
  if (completion.carried > kCarriedBytes) {
    const Bounced in = bounce(segment, shared, carried.many, completion.carried,
                              held != nullptr ? *held : While{});
    if (in.went != Bounce::kDone) return in.went == Bounce::kLost ? Push::kLost : Push::kNoRoom;
    what = &with_place.emplace(completion);
    with_place->bounced_at = in.at;
    few = nullptr;
  }
  kill_point(completion.receive != 0 ? "pushing_receive" : "pushing");
  if (held == nullptr) {
    append(shared, tail, entries[place], annex, *what, few, solicited, mark_of(tail, capacity));
  } else {
    if (!append_while(*held, shared, tail, entries[place], annex, *what, few)) return Push::kLost;
    // It counts already. Not as a part of that: whoever is cut off in between has pushed it.
    (void)store_while(*held, mark_in(entries[place]), mark_of(tail, capacity));
    if (kept != nullptr && kept->more) {
      // Not the completion itself, which its consumer may be looking at already.
      prefetch_to_store(&annexes_of(entries, capacity)[(tail + 1) & (capacity - 1)]);
    }
  }
  if ((traits & kRaisesEvents) == 0) return Push::kPushed;
  const Push push = tell_if_armed(shared, solicited || completion.status != IBV_WC_SUCCESS);
  if (push != Push::kPushed) mark_due(segment.header().due_completion_queues, queue);
  return push;
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
  // Not the oldest, if they have been polled: the next ones go into their places, and whoever died
  // may have written them.
  const std::uint32_t unpolled =
      std::min(tail - shared.head.load(std::memory_order_acquire), capacity);
  const std::uint32_t sound = std::max(capacity - most_together(capacity), unpolled);
  for (std::uint32_t i = 1; i <= sound; ++i) {
    const SharedCompletion& entry = entries[(tail - i) & (capacity - 1)];
    if (read_once(entry.receive) != mark.receive || read_once(entry.srq) != mark.srq) continue;
    if (mark.srq != 0 || read_once(entry.qp_number) == mark.qp_number) return true;
  }
  return false;
}

}  // namespace gdr::rnic
