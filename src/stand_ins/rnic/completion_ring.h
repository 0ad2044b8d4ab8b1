// What pushing and polling a completion queue share: where things lie in its ring, and its events.
#pragma once

#include "rnic/shared.h"

namespace gdr::rnic {

constexpr std::uint64_t ring_bytes(std::uint32_t capacity) {
  return std::uint64_t{capacity} * (sizeof(SharedCompletion) + sizeof(CompletionAnnex));
}

// What lies behind the completions of a ring: an annex for each of them.
inline CompletionAnnex* annexes_of(SharedCompletion* entries, std::uint32_t capacity) {
  return reinterpret_cast<CompletionAnnex*>(entries + capacity);
}

// Under the producer lock. Whoever delivers it may do so after a poll has taken what it is for.
inline void make_event(SharedCompletionQueue& shared) {
  shared.armed.store(0, std::memory_order_relaxed);
  shared.told.store(shared.tail.load(std::memory_order_relaxed), std::memory_order_relaxed);
  shared.event.store(1);
}

}  // namespace gdr::rnic
