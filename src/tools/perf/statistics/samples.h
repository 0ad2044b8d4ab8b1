// Latencies of one repetition as one thread takes them, every one of them kept; and what they come
// to: percentiles, mean, extremes and an exact histogram.
//
//   Samples samples(100'000);  // on the thread that measures: it touches the memory it will write
//   while (!samples.full()) {
//     const Ticks start = ticks();
//     post_and_poll();
//     samples.add(ticks() - start);
//   }
//   const Latency latency = summarize(repetitions, clock.nanoseconds_per_tick());
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "perf/report.h"
#include "perf/statistics/clock.h"

namespace gdr::perf {

// Cache lines of its own: beside it lie those that other threads write.
class alignas(64) Samples {
 public:
  // Room for so many; 4 bytes each, and 8 for each longer than 2^32 ticks (a second or more).
  explicit Samples(std::size_t room) : room_(room), short_(room) {}

  // Hot: one store. False: it was full, and the sample is not kept.
  bool add(Ticks sample) {
    if (sample > kMostShort || count_ == room_) [[unlikely]] {
      return add_long(sample);
    }
    short_[count_++] = static_cast<std::uint32_t>(sample);
    return true;
  }
  bool full() const { return !has_room(1); }
  bool has_room(std::size_t more) const { return count_ + more <= room_; }
  std::size_t size() const { return count_ + long_.size(); }

  // To be used again, without giving its memory back.
  void clear();
  // What another thread took in the same repetition.
  void append(const Samples& other);

  // In the order in which they came, but for those too long for 32 bits.
  std::span<const std::uint32_t> short_ones() const { return {short_.data(), count_}; }
  std::span<const Ticks> long_ones() const { return long_; }

 private:
  static constexpr Ticks kMostShort = std::numeric_limits<std::uint32_t>::max();
  bool add_long(Ticks sample);

  std::size_t count_ = 0;  // of the short ones
  std::size_t room_;       // for short ones: a long one takes the place of one
  std::vector<std::uint32_t> short_;
  std::vector<Ticks> long_;
};

// Over all samples of all repetitions, percentiles by nearest rank: each is a sample that was seen,
// or 0 where there are too few of them.
// For half round trips, `nanoseconds_per_tick` is half of the clock's.
Latency summarize(std::span<const Samples> repetitions, double nanoseconds_per_tick);

}  // namespace gdr::perf
