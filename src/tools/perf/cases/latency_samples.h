// LatencySamples: what a thread times one by one, repetition by repetition. Nothing is lost: a
// repetition whose room is full is over.
//
//   LatencySamples samples(outcome, timing);
//   samples.note(slicer.slice(), sample);
//   while (samples.go_on(slicer, rounds, now)) ...
#pragma once

#include <algorithm>

#include "perf/cases/slicer.h"
#include "perf/cases/task.h"

namespace gdr::perf {

class LatencySamples {
 public:
  // `at_once`: so many are taken between two calls of go_on.
  LatencySamples(Outcome& outcome, const Timing& timing, std::size_t at_once = 1)
      : outcome_(outcome),
        at_once_(at_once),
        room_(std::clamp(kMostOfAll / std::max(timing.slices, 1u), kLeast, kMost)) {}

  // `slice` as from Slicer::slice(); samples of the warm-up, which comes first, are not kept.
  // False: this call took long, since it made room for a repetition: do not count it in the next
  // sample. Hot.
  bool note(std::size_t slice, Ticks sample) {
    const bool is_new = slice != slice_;
    if (is_new) [[unlikely]] {
      begin(slice);
    }
    if (samples_ != nullptr) [[likely]] {
      samples_->add(sample);
    }
    return !is_new;
  }
  // As Slicer::go_on.
  bool go_on(Slicer& slicer, std::uint64_t completed, Ticks now) const {
    return full() ? slicer.end_slice(completed, now) : slicer.go_on(completed, now);
  }
  bool full() const { return samples_ != nullptr && !samples_->has_room(at_once_); }

 private:
  [[gnu::cold, gnu::noinline]] void begin(std::size_t slice) {
    slice_ = slice;
    samples_ = &outcome_.samples.emplace_back(room_);
  }

  static constexpr std::size_t kLeast = 1000, kMost = 1 << 20, kMostOfAll = 16 << 20;

  Outcome& outcome_;
  const std::size_t at_once_, room_;
  std::size_t slice_ = 0;
  Samples* samples_ = nullptr;  // of that slice; null: it is the warm-up
};

}  // namespace gdr::perf
