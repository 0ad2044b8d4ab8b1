// What the service thread of a process has to look at, so that a completion event costs the same
// however many queues there are. Whoever marks does so after it has stored what is due; whoever
// dies or is stopped in between leaves no mark, so the service thread also looks at everything
// after a death and once a second.
//
//   mark_due(segment.header().due_completion_queues, index);        // any process
//   take_due(header.due_completion_queues, [&](std::uint32_t index) { ... });   // the owner
#pragma once

#include <bit>

#include "rnic/shared.h"

namespace gdr::rnic {

// Locked instructions also where the mark is set already: what is due was stored before, and a
// plain look could overtake that.
inline void mark_due(SharedDue& due, std::uint32_t index) {
  index &= kQueuePairs - 1;
  due.words[index / 64].fetch_or(std::uint64_t{1} << index % 64);
  due.summary[index / 4096].fetch_or(std::uint64_t{1} << index / 64 % 64);
}

// A mark that is set meanwhile is seen here or the next time.
template <typename Look>
void take_due(SharedDue& due, const Look& look) {
  for (std::uint32_t group = 0; group < kQueuePairs / 4096; ++group) {
    if (due.summary[group].load() == 0) continue;
    for (std::uint64_t words = due.summary[group].exchange(0); words != 0; words &= words - 1) {
      const auto word = group * 64 + static_cast<std::uint32_t>(std::countr_zero(words));
      for (std::uint64_t bits = due.words[word].exchange(0); bits != 0; bits &= bits - 1) {
        look(word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits)));
      }
    }
  }
}

}  // namespace gdr::rnic
