#include "rnic/completion_queue.h"

#include <infiniband/verbs.h>

#include <bit>
#include <mutex>

#include "rnic/device_clock.h"

namespace gdr::rnic {
namespace {

void record_times(SharedCompletion& entry, std::uint32_t traits) {
  if ((traits & kRecordsDeviceTime) != 0) entry.device_time = device_clock();
  if ((traits & kRecordsWallTime) != 0) entry.wall_time = wall_clock();
}

}  // namespace

Push push_completion(Segment& segment, std::uint32_t queue, const SharedCompletion& completion,
                     bool solicited, Token self, Liveness& liveness) {
  SharedCompletionQueue& shared = segment.completion_queue(queue);
  const LockGuard guard(shared.producer, self, liveness);
  const std::uint32_t capacity = read_once(shared.capacity);
  const std::uint32_t tail = shared.tail.load(std::memory_order_relaxed);
  const std::uint32_t used = tail - shared.head.load(std::memory_order_acquire);
  const std::uint32_t traits = read_once(shared.traits);
  auto* entries = static_cast<SharedCompletion*>(
      segment.arena(read_once(shared.ring), std::uint64_t{capacity} * sizeof(SharedCompletion)));
  if (!std::has_single_bit(capacity) || entries == nullptr ||
      used >= std::min(read_once(shared.limit), capacity)) {
    if ((traits & kIgnoresOverrun) != 0) return Push::kPushed;
    shared.overrun.store(1, std::memory_order_release);
    return Push::kOverrun;
  }
  SharedCompletion& entry = entries[tail & (capacity - 1)];
  entry = completion;
  if (traits != 0) [[unlikely]]
    record_times(entry, traits);
  // Sequentially consistent against request_notification: either it sees this completion's tail or
  // this sees it armed.
  shared.tail.store(tail + 1);
  const std::uint32_t armed = shared.armed.load();
  if (armed == 0) return Push::kPushed;
  if (armed == 1 && !solicited && completion.status == IBV_WC_SUCCESS) return Push::kPushed;
  if (const std::uint32_t count = shared.moderation.load(std::memory_order_relaxed); count > 1) {
    const std::uint32_t held = shared.held.load(std::memory_order_relaxed) + 1;
    shared.held.store(held < count ? held : 0);
    if (held < count) return held == 1 ? Push::kHeld : Push::kPushed;
  }
  shared.armed.store(0, std::memory_order_relaxed);
  shared.event.store(1);
  return Push::kEventDue;
}

Result<CompletionQueue::Ring> CompletionQueue::allocate(Segment& segment, std::uint32_t limit) {
  if (limit == 0 || limit > kMaxCompletions) {
    return Error{EINVAL, "a completion queue holds 1 to 1048576 completions"};
  }
  Ring ring{.limit = limit, .capacity = std::bit_ceil(limit)};
  const std::uint64_t bytes = std::uint64_t{ring.capacity} * sizeof(SharedCompletion);
  Result<std::uint64_t> offset = segment.allocate(bytes);
  if (!offset) return offset.error();
  ring.offset = *offset;
  ring.entries = static_cast<SharedCompletion*>(segment.arena(*offset, bytes));
  return ring;
}

Result<std::unique_ptr<CompletionQueue>> CompletionQueue::create(Segment& segment,
                                                                 std::uint32_t index,
                                                                 CompletionQueueSettings settings,
                                                                 Token self, Liveness& liveness) {
  const Result<Ring> ring = allocate(segment, settings.limit);
  if (!ring) return ring.error();
  return std::unique_ptr<CompletionQueue>(
      new CompletionQueue(segment, index, *ring, self, liveness, std::move(settings)));
}

CompletionQueue::CompletionQueue(Segment& segment, std::uint32_t index, const Ring& ring,
                                 Token self, Liveness& liveness, CompletionQueueSettings settings)
    : segment_(segment),
      shared_(segment.completion_queue(index)),
      index_(index),
      self_(self),
      liveness_(liveness),
      on_event_(std::move(settings.on_event)) {
  publish(ring);
  shared_.traits = settings.traits;
  shared_.moderation.store(0);
  shared_.held.store(0);
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
    const LockGuard producer(shared_.producer, self_, liveness_);
    const std::uint32_t tail = shared_.tail.load();
    // Not the limit alone: another process may have written anything over the tail.
    if (tail - head_ <= std::min(limit, ring_.capacity)) {
      for (std::uint32_t at = head_; at != tail; ++at) fresh->at(at) = ring_.at(at);
      unused = ring_.offset;
      publish(*fresh);
    }
  }
  segment_.free(unused);
  if (unused == fresh->offset) return Error{EINVAL, "more completions are there than would fit"};
  return {};
}

int CompletionQueue::poll(std::span<SharedCompletion> completions) {
  const std::lock_guard guard(consumer_);
  std::uint32_t available = shared_.tail.load(std::memory_order_acquire) - head_;
  if (available == 0) return overrun() ? -1 : 0;
  if (available > ring_.capacity) return -1;  // a peer scribbled over the tail
  available = std::min<std::uint32_t>(available, static_cast<std::uint32_t>(completions.size()));
  for (std::uint32_t i = 0; i < available; ++i) {
    completions[i] = ring_.at(head_ + i);
  }
  head_ += available;
  shared_.head.store(head_, std::memory_order_release);
  return static_cast<int>(available);
}

void CompletionQueue::request_notification(bool solicited_only) {
  std::uint32_t armed = shared_.armed.load(std::memory_order_relaxed);
  // A request for any completion is not weakened by a later one for solicited ones.
  const std::uint32_t wanted = solicited_only && armed != 2 ? 1 : 2;
  shared_.armed.store(wanted);
}

Push CompletionQueue::push(const SharedCompletion& completion, bool solicited) {
  const Push push = push_completion(segment_, index_, completion, solicited, self_, liveness_);
  if (push == Push::kEventDue) deliver_event();
  return push;
}

void CompletionQueue::purge(std::uint32_t qp_number) {
  const std::lock_guard consumer(consumer_);
  const LockGuard producer(shared_.producer, self_, liveness_);
  const std::uint32_t tail = shared_.tail.load();
  if (tail - head_ > ring_.capacity) return;
  // Keeps the order of what stays by moving it towards the tail's end of the ring.
  std::uint32_t kept = tail;
  for (std::uint32_t from = tail; from != head_; --from) {
    const SharedCompletion entry = ring_.at(from - 1);
    if (entry.qp_number == qp_number) continue;
    ring_.at(--kept) = entry;
  }
  head_ = kept;
  shared_.head.store(head_);
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
    const LockGuard producer(shared_.producer, self_, liveness_);
    if (shared_.held.exchange(0) == 0) return false;
    shared_.armed.store(0);
    shared_.event.store(1);
  }
  deliver_event();
  return false;
}

bool CompletionQueue::deliver_missed_event() {
  {
    const LockGuard producer(shared_.producer, self_, liveness_);
    if (shared_.armed.load() == 0 || shared_.tail.load() == shared_.head.load()) return false;
    shared_.armed.store(0);
    shared_.held.store(0);
    shared_.event.store(1);
  }
  return deliver_event();
}

}  // namespace gdr::rnic
