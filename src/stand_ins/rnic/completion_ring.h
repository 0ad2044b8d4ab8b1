// What pushing and polling a completion queue share: where things lie in its ring, and its events.
//
// An event is due, then raised, then taken. Whoever makes one due sees to it that somebody raises
// it: claims it, which counts it as raised, and writes a record to the channel's pipe
// (event_pipe.h). Any process may claim one that is due, and only one does.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>

#include "rnic/shared.h"

namespace gdr::rnic {

constexpr std::uint64_t ring_bytes(std::uint32_t capacity) {
  return std::uint64_t{capacity} * (sizeof(SharedCompletion) + sizeof(CompletionAnnex));
}

// What lies behind the completions of a ring: an annex for each of them.
inline CompletionAnnex* annexes_of(SharedCompletion* entries, std::uint32_t capacity) {
  return reinterpret_cast<CompletionAnnex*>(entries + capacity);
}

// What a completion at that position is marked with once the tail has moved past it, so that its
// consumer need not fetch the tail's line. Not what its place was marked with a round before, and
// never 0. A hint: whoever dies before it leaves none, and then the tail tells.
constexpr std::uint16_t mark_of(std::uint32_t position, std::uint32_t capacity) {
  return static_cast<std::uint16_t>(((position >> std::countr_zero(capacity)) & 0x7fff) + 1);
}
inline std::atomic<std::uint16_t>& mark_in(SharedCompletion& completion) {
  static_assert(sizeof(std::atomic<std::uint16_t>) == sizeof completion.mark);
  return reinterpret_cast<std::atomic<std::uint16_t>&>(completion.mark);
}

// How many completions may begin to count together, and so how many places beyond the tail, of its
// oldest completions, whoever died may have written.
constexpr std::uint32_t most_together(std::uint32_t capacity) {
  return std::clamp(capacity / 4, 1u, kMostTogether);
}

// Whether there is room at `tail`. The consumer's line is fetched only when the queue seems to be
// full. Under the producer lock.
inline bool queue_has_room(SharedCompletionQueue& shared, std::uint32_t tail, std::uint32_t limit) {
  if (tail - shared.known_head.load(std::memory_order_relaxed) < limit) return true;
  const std::uint32_t head = shared.head.load(std::memory_order_acquire);
  shared.known_head.store(head, std::memory_order_relaxed);
  return tail - head < limit;
}

// Under the producer lock. Whoever delivers it may do so after a poll has taken what it is for.
inline void make_event(SharedCompletionQueue& shared) {
  shared.armed.store(0, std::memory_order_relaxed);
  shared.told.store(shared.tail.load(std::memory_order_relaxed), std::memory_order_relaxed);
  shared.event.fetch_or(kEventDue);
}

// The one that is due is counted as raised. False: none is due, or somebody else has claimed it.
inline bool claim_event(SharedCompletionQueue& shared) {
  std::uint32_t word = shared.event.load();
  while ((word & kEventDue) != 0) {
    if (shared.event.compare_exchange_weak(word, word - kEventDue + kEventRaised)) return true;
  }
  return false;
}

// One that was claimed and could not be told of is due again. Not if its count was taken meanwhile,
// by a record that was written for another one or by nobody who may: then the program knows of it.
// (Another one may so be left without a record: the service thread writes one when nothing comes.)
inline void return_event(SharedCompletionQueue& shared) {
  std::uint32_t word = shared.event.load();
  while (word >= kEventRaised) {
    if (shared.event.compare_exchange_weak(word, (word - kEventRaised) | kEventDue)) return;
  }
}

// Takes one that was raised. False: there is none.
inline bool take_event(SharedCompletionQueue& shared) {
  std::uint32_t word = shared.event.load();
  while (word >= kEventRaised) {
    if (shared.event.compare_exchange_weak(word, word - kEventRaised)) return true;
  }
  return false;
}

}  // namespace gdr::rnic
