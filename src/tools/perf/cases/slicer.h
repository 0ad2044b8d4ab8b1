// Slicer: cuts a continuous run into a warm-up and repetitions, by time or by number of messages.
// Between slices nothing stops: what is under way at a boundary belongs to whichever it ends in.
//
//   Slicer slicer(timing, clock, ticks());
//   while (slicer.go_on(completed, ticks())) ...
#pragma once

#include <vector>

#include "perf/messages.h"
#include "perf/statistics/clock.h"

namespace gdr::perf {

class Slicer {
 public:
  Slicer(const Timing& timing, const TickClock& clock, Ticks now)
      : timing_(timing),
        clock_(clock),
        length_(clock.ticks_in(timing.slice_nanoseconds)),
        began_(now),
        ends_(now + clock.ticks_in(timing.warm_up_nanoseconds)),
        messages_end_(timing.slice_messages) {
    if (timing.slice_messages != 0) slice_ = 1;
  }

  // False: the last slice has ended. Hot.
  bool go_on(std::uint64_t completed, Ticks now) {
    if (timing_.slice_messages == 0 ? now < ends_ : completed < messages_end_) [[likely]] {
      return true;
    }
    return end_slice(completed, now);
  }
  // Before its time. The same answer.
  [[gnu::cold, gnu::noinline]] bool end_slice(std::uint64_t completed, Ticks now) {
    if (slice_ != 0) {
      slices_.push_back({completed - completed_before_,
                         static_cast<std::uint64_t>(clock_.nanoseconds(now - began_))});
    }
    ++slice_;
    began_ = now;
    ends_ = now + length_;
    completed_before_ = completed;
    messages_end_ = completed + timing_.slice_messages;
    return slices_.size() < timing_.slices;
  }
  // Which one goes on: 0 the warm-up, 1 the first repetition. Hot.
  std::size_t slice() const { return slice_; }
  const std::vector<Slice>& slices() const { return slices_; }

 private:
  const Timing timing_;
  const TickClock& clock_;
  const Ticks length_;
  Ticks began_, ends_;
  std::uint64_t messages_end_;
  std::uint64_t completed_before_ = 0;
  std::size_t slice_ = 0;
  std::vector<Slice> slices_;
};

}  // namespace gdr::perf
