// With --check: windows of messages, each as many as there are places for them. The client fills
// them, sends them as fast as it can, which is what is timed, and has every byte compared before
// the next window: by the server where the data went there, by itself where it came from there.
#pragma once

#include <algorithm>

#include "perf/cases/receives.h"
#include "perf/cases/task.h"
#include "perf/cases/verifier.h"

namespace gdr::perf {

// each(queue, message) for the messages of a window, as far as there are places for them, until one
// is false.
template <typename Each>
bool for_each_message(const Window& window, Station& station, Each&& each) {
  const std::uint32_t count = std::min(window.count, station.layout().slots);
  for (std::uint32_t queue = 0; queue < station.queues().size(); ++queue) {
    for (std::uint32_t i = 0; i < count; ++i) {
      if (!each(queue, window.first + i)) return false;
    }
  }
  return true;
}

void run_checked_client(Task& task, Outcome& outcome);
// Of sends and writes with immediate: compares what arrives, as it arrives.
void run_checked_server(Task& task, Receives& receives, Outcome& outcome);

}  // namespace gdr::perf
