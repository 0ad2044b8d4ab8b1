// Answers: when each request of others was answered, so that answers that nobody fetches do not
// keep the table full: a process that was stopped with many would keep all others from this one's
// memory.
//
//   answers.note(place, now);
//   answers.free_forgotten(segment, now);
//
// Service thread only.
#pragma once

#include <array>

#include "base/clock.h"
#include "rnic/segment.h"

namespace gdr::peers {

class Answers {
 public:
  void note(std::uint32_t place, Nanoseconds now) { answered_at_[place] = now; }
  // Only in a full table. Whoever comes for such an answer finds that it is gone.
  void free_forgotten(rnic::Segment& segment, Nanoseconds now) const;

 private:
  std::array<Nanoseconds, rnic::kServiceRequests> answered_at_{};
};

}  // namespace gdr::peers
