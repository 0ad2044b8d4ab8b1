#include "rnic/completion_queue.h"

#include <infiniband/verbs.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <mutex>

#include "base/kill_point.h"

namespace gdr::rnic {

namespace {

constexpr std::uint64_t ring_bytes(std::uint32_t capacity) {
  return std::uint64_t{capacity} * (sizeof(SharedCompletion) + sizeof(CarriedBytes));
}
template <typename Entry>
CarriedBytes* carried_behind(Entry* entries, std::uint32_t capacity) {
  return reinterpret_cast<CarriedBytes*>(entries + capacity);
}

}  // namespace

Push push_completion(Segment& segment, std::uint32_t queue, const SharedCompletion& completion,
                     const std::byte* carried, bool solicited, Token self, Liveness& liveness) {
  SharedCompletionQueue& shared = segment.completion_queue(queue);
  const LockGuard guard(shared.producer, self, liveness);
  const std::uint32_t capacity = read_once(shared.capacity);
  const std::uint32_t tail = shared.tail.load(std::memory_order_relaxed);
  const std::uint32_t used = tail - shared.head.load(std::memory_order_acquire);
  auto* entries =
      static_cast<SharedCompletion*>(segment.arena(read_once(shared.ring), ring_bytes(capacity)));
  if (!std::has_single_bit(capacity) || entries == nullptr ||
      used >= std::min(read_once(shared.limit), capacity)) {
    shared.overrun.store(1, std::memory_order_release);
    return Push::kOverrun;
  }
  const std::uint32_t place = tail & (capacity - 1);
  entries[place] = completion;
  if (completion.carried != 0) {
    std::memcpy(carried_behind(entries, capacity)[place].bytes, carried, completion.carried);
  }
  kill_point("pushing");
  // Sequentially consistent against request_notification: either it sees this completion's tail or
  // this sees it armed.
  shared.tail.store(tail + 1);
  const std::uint32_t armed = shared.armed.load();
  if (armed == 0) return Push::kPushed;
  if (armed == 1 && !solicited && completion.status == IBV_WC_SUCCESS) return Push::kPushed;
  shared.armed.store(0, std::memory_order_relaxed);
  shared.event.store(1);
  return Push::kEventDue;
}

bool has_completed(Segment& segment, std::uint32_t queue, std::uint32_t qp_number,
                   std::uint32_t receive, Token self, Liveness& liveness) {
  SharedCompletionQueue& shared = segment.completion_queue(queue);
  const LockGuard guard(shared.producer, self, liveness);
  const std::uint32_t capacity = read_once(shared.capacity);
  const std::uint32_t tail = shared.tail.load(std::memory_order_relaxed);
  const auto* entries = static_cast<const SharedCompletion*>(
      segment.arena(read_once(shared.ring), ring_bytes(capacity)));
  if (!std::has_single_bit(capacity) || entries == nullptr) return false;
  for (std::uint32_t i = 1; i <= capacity; ++i) {
    const SharedCompletion& entry = entries[(tail - i) & (capacity - 1)];
    if (read_once(entry.qp_number) == qp_number && read_once(entry.receive) == receive) return true;
  }
  return false;
}

Result<std::unique_ptr<CompletionQueue>> CompletionQueue::create(
    Segment& segment, RegionTable& regions, std::uint32_t index, std::uint32_t limit, Token self,
    Liveness& liveness, std::function<void()> on_event) {
  const std::uint32_t capacity = std::bit_ceil(limit);
  Result<std::uint64_t> ring = segment.allocate(ring_bytes(capacity));
  if (!ring) return ring.error();
  return std::unique_ptr<CompletionQueue>(new CompletionQueue(
      segment, regions, index, limit, capacity, *ring, self, liveness, std::move(on_event)));
}

CompletionQueue::CompletionQueue(Segment& segment, RegionTable& regions, std::uint32_t index,
                                 std::uint32_t limit, std::uint32_t capacity, std::uint64_t ring,
                                 Token self, Liveness& liveness, std::function<void()> on_event)
    : segment_(segment),
      regions_(regions),
      shared_(segment.completion_queue(index)),
      index_(index),
      limit_(limit),
      capacity_(capacity),
      ring_(ring),
      entries_(static_cast<SharedCompletion*>(segment.arena(ring, ring_bytes(capacity)))),
      carried_(carried_behind(entries_, capacity)),
      self_(self),
      liveness_(liveness),
      on_event_(std::move(on_event)) {
  shared_.capacity = capacity_;
  shared_.limit = limit_;
  shared_.ring = ring_;
  shared_.tail.store(0);
  shared_.head.store(0);
  shared_.armed.store(0);
  shared_.event.store(0);
  shared_.overrun.store(0);
  shared_.generation.store(1, std::memory_order_release);
}

CompletionQueue::~CompletionQueue() {
  {
    const LockGuard guard(shared_.producer, self_, liveness_);
    shared_.limit = 0;  // whoever pushes now finds no room
    shared_.capacity = 0;
  }
  segment_.free(ring_);
  shared_.generation.store(0);  // last: the place may be taken again from here on
}

void CompletionQueue::place(const SharedCompletion& completion, std::uint32_t position) {
  const std::size_t bytes = std::min(completion.carried, kCarriedBytes);
  if (bytes == 0) return;
  regions_.place(completion.carried_key, completion.carried_to,
                 {carried_[position & (capacity_ - 1)].bytes, bytes});
}

int CompletionQueue::poll(std::span<SharedCompletion> completions) {
  // Without the lock: most polls find nothing.
  if (shared_.tail.load(std::memory_order_acquire) == head_.load(std::memory_order_relaxed)) {
    return overrun() ? -1 : 0;
  }
  const std::lock_guard guard(consumer_);
  const std::uint32_t head = head_.load(std::memory_order_relaxed);
  std::uint32_t available = shared_.tail.load(std::memory_order_acquire) - head;
  if (available == 0) return overrun() ? -1 : 0;
  if (available > capacity_) return -1;  // a peer scribbled over the tail
  available = std::min<std::uint32_t>(available, static_cast<std::uint32_t>(completions.size()));
  for (std::uint32_t i = 0; i < available; ++i) {
    completions[i] = entries_[(head + i) & (capacity_ - 1)];
    place(completions[i], head + i);
  }
  kill_point("poll_cq");
  head_.store(head + available, std::memory_order_relaxed);
  shared_.head.store(head + available, std::memory_order_release);
  return static_cast<int>(available);
}

void CompletionQueue::place_carried() {
  const std::lock_guard guard(consumer_);
  const std::uint32_t tail = shared_.tail.load(std::memory_order_acquire);
  std::uint32_t position = head_.load(std::memory_order_relaxed);
  if (tail - position > capacity_) return;
  for (; position != tail; ++position) {
    SharedCompletion& entry = entries_[position & (capacity_ - 1)];
    const SharedCompletion seen = entry;
    place(seen, position);
    entry.carried = 0;
  }
}

void CompletionQueue::request_notification(bool solicited_only) {
  std::uint32_t armed = shared_.armed.load(std::memory_order_relaxed);
  // A request for any completion is not weakened by a later one for solicited ones.
  const std::uint32_t wanted = solicited_only && armed != 2 ? 1 : 2;
  shared_.armed.store(wanted);
}

Push CompletionQueue::push(const SharedCompletion& completion, bool solicited) {
  const Push push =
      push_completion(segment_, index_, completion, nullptr, solicited, self_, liveness_);
  if (push == Push::kEventDue) deliver_event();
  return push;
}

void CompletionQueue::purge(std::uint32_t qp_number) {
  const std::lock_guard consumer(consumer_);
  const LockGuard producer(shared_.producer, self_, liveness_);
  const std::uint32_t head = head_.load(std::memory_order_relaxed);
  const std::uint32_t tail = shared_.tail.load();
  if (tail - head > capacity_) return;
  // Keeps the order of what stays by moving it towards the tail's end of the ring.
  std::uint32_t kept = tail;
  for (std::uint32_t from = tail; from != head; --from) {
    SharedCompletion entry = entries_[(from - 1) & (capacity_ - 1)];
    if (entry.qp_number == qp_number) continue;
    place(entry, from - 1);  // here: the bytes do not move with it
    entry.carried = 0;
    entries_[--kept & (capacity_ - 1)] = entry;
  }
  head_.store(kept, std::memory_order_relaxed);
  shared_.head.store(kept);
}

bool CompletionQueue::deliver_event() {
  if (shared_.event.exchange(0) == 0) return false;
  if (on_event_) on_event_();
  return true;
}

bool CompletionQueue::deliver_missed_event() {
  {
    const LockGuard producer(shared_.producer, self_, liveness_);
    if (shared_.armed.load() == 0 || shared_.tail.load() == shared_.head.load()) return false;
    shared_.armed.store(0);
    shared_.event.store(1);
  }
  return deliver_event();
}

}  // namespace gdr::rnic
