// CompletionRun: completions of short messages that an initiator pushes together. They are written
// one by one, and begin to count at once: until then their consumer looks at none of their lines,
// and whoever dies has pushed none of them.
//
//   CompletionRun run;
//   if (!run.begin(segment, queue, held, self, liveness, &kept)) ...    // one by one, then
//   while (run.has_room() && ...) run.write(held, short_receive(...), bytes, length);
//   if (!run.count(held)) ...                                           // cut off: none counts
//
// Hot.
#pragma once

#include <infiniband/verbs.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/kill_point.h"
#include "base/restartable.h"
#include "rnic/completion_queue.h"
#include "rnic/completion_ring.h"

namespace gdr::rnic {

class CompletionRun {
 public:
  // Whether nobody may wait for the queue's events, and it records nothing more of each completion.
  static bool suits(const SharedCompletionQueue& queue) {
    constexpr std::uint32_t kOneByOne =
        kRecordsDeviceTime | kRecordsWallTime | kRecordsTag | kIgnoresOverrun | kRaisesEvents;
    return (read_once(queue.traits) & kOneByOne) == 0;
  }
  // Takes the queue's producer lock, which stays in `kept`. False: it does not suit, or its owner
  // holds the lock and does not go on.
  bool begin(Segment& segment, std::uint32_t queue, const While& held, Token self,
             Liveness& liveness, KeptProducer* kept);

  std::uint32_t size() const { return size_.load(std::memory_order_relaxed); }
  // For one more.
  bool has_room() { return size() < most_ && queue_has_room(*shared_, tail_ + size(), limit_); }
  // `bytes`: a multiple of 16, and not more than an annex holds. False: this process was cut off.
  bool write(const While& held, const SixtyFour& completion, const std::byte* carried,
             std::size_t bytes) {
    kill_point("pushing_receive");
    const std::uint32_t place = (tail_ + size()) & (capacity_ - 1);
    CompletionAnnex* const annexes = annexes_of(entries_, capacity_);
    // Nobody looks there before the first of the run counts.
    const std::uint32_t next = (place + kAhead) & (capacity_ - 1);
    prefetch_to_store(&entries_[next]);
    prefetch_to_store(&annexes[next]);
    return copy_both_and_store_while(held, {annexes[place].carried, carried, bytes},
                                     &entries_[place], completion, size_, size() + 1);
  }
  bool count(const While& held) const;

 private:
  static constexpr std::uint32_t kAhead = 4;  // completions that are fetched ahead
  SharedCompletionQueue* shared_ = nullptr;
  SharedCompletion* entries_ = nullptr;
  std::uint32_t capacity_ = 0, limit_ = 0, tail_ = 0, most_ = 0;
  std::atomic<std::uint32_t> size_{0};
};

// The completion of a receive that took a message of a few bytes, as its bytes lie in memory.
struct ShortReceive {
  std::uint64_t wr_id;
  std::uint32_t bytes, number, source;  // the queue pairs that took it and that sent it
  std::uint64_t to;                     // where the bytes belong, as the receive says it
  std::uint32_t key;
  std::uint32_t receive;  // its queue's receive_head behind it
};
// Never by way of memory, where reading it back would wait for the stores before it.
[[gnu::always_inline]] inline SixtyFour in_registers(const ShortReceive& one) {
  static_assert(std::endian::native == std::endian::little && IBV_WC_SUCCESS == 0);
  static_assert(
      offsetof(SharedCompletion, opcode) == 12 && offsetof(SharedCompletion, bytes) == 20 &&
      offsetof(SharedCompletion, qp_number) == 28 && offsetof(SharedCompletion, source_qp) == 32 &&
      offsetof(SharedCompletion, carried) == 44 && offsetof(SharedCompletion, carried_to) == 48 &&
      offsetof(SharedCompletion, receive) == 60);
  constexpr std::uint64_t kOpcode = std::uint64_t{IBV_WC_RECV} << 32;
  const auto high = [](std::uint32_t word) { return std::uint64_t{word} << 32; };
  return {{Sixteen{one.wr_id, kOpcode}, Sixteen{high(one.bytes), high(one.number)},
           Sixteen{one.source, high(one.bytes)}, Sixteen{one.to, one.key | high(one.receive)}}};
}

}  // namespace gdr::rnic
