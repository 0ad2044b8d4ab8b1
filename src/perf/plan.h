// Group: rows that differ in their size alone, and share memory and queue pairs.
#pragma once

#include <vector>

#include "perf/messages.h"

namespace gdr::perf {

struct Group {
  Load load;
  std::vector<std::uint64_t> sizes;
  Timing timing;
  bool signal_chosen = false;  // load.signal_every was asked for
};

}  // namespace gdr::perf
