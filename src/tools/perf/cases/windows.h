// With --check messages move in windows, as many as there are places for: filled, moved, which is
// what is timed, and every byte compared before the next ones. The client leads, and asks the
// server for its part of each: to fill, to send its own with --both-ways, to compare.
//
//   Windows windows(task, outcome, count);
//   windows.run([&](const Window& window) { return when_all_of_it_had_moved; });
#pragma once

#include <algorithm>
#include <functional>
#include <optional>

#include "perf/cases/latency_samples.h"
#include "perf/cases/slicer.h"
#include "perf/cases/task.h"
#include "perf/contents.h"
#include "perf/stage.h"

namespace gdr::perf {

// each(queue, message) for the messages of a window, as far as there are places for them, until one
// is false.
template <typename Each>
bool for_each_message(const Window& window, Station& station, Each&& each, const GoOn& go_on = {}) {
  const std::uint32_t count = std::min(window.count, station.layout().slots);
  for (std::uint32_t queue = 0; queue < station.queues().size(); ++queue) {
    for (std::uint32_t i = 0; i < count; ++i) {
      if (go_on && !go_on()) return false;
      if (!each(queue, window.first + i)) return false;
    }
  }
  return true;
}

// What a side has to fill before a window moves, and what lies there to be compared afterwards, but
// for what it has compared as it arrived. False: the memory could not be reached, or there is no
// sense in going on.
bool fill_window(Task& task, Contents& contents, const Window& window, Outcome& outcome,
                 const GoOn& go_on = {});
bool compare_window(Task& task, Contents& contents, const Window& window, Outcome& outcome,
                    const GoOn& go_on = {});

// How many messages have come since a row began. Whoever takes them began its last look at
// `looked_at`, and found no more.
struct Arrived {
  std::uint64_t messages = 0;
  Nanoseconds looked_at = 0;
};

// Waits for messages, window after window. What unreliable transports have lost does not come: but
// only who has looked knows that, on a busy machine long after it was to be known.
class Arrivals {
 public:
  explicit Arrivals(Station& station) : station_(station) {}
  // `look`: nothing: there is no sense in waiting. How many of the window are lost, or ETIMEDOUT
  // where none may be.
  Result<std::uint64_t> await(const Window& window,
                              const std::function<std::optional<Arrived>()>& look);

 private:
  Station& station_;
  std::uint64_t lost_ = 0;
};

// The client's.
class Windows {
 public:
  // `count`: messages of a queue pair. `samples`: whose room for a repetition bounds it.
  Windows(Task& task, Outcome& outcome, std::uint32_t count,
          const LatencySamples* samples = nullptr);

  // Until the repetitions are over. `move`: when all of the window had moved; nothing: it failed.
  void run(const std::function<std::optional<Ticks>(const Window&)>& move);
  std::size_t slice() const { return slicer_.slice(); }

 private:
  // What is timed: both directions, from the first begin to the last end.
  struct Span {
    Ticks began = 0, ended = 0;
    Ticks far_began = 0;  // the server, at the latest
  };
  bool prepare(const Window& window);
  bool begin(const Window& window, Span& span);
  bool compare(const Window& window, Span& span);
  bool go_on(Ticks took);

  Task& task_;
  Outcome& outcome_;
  const Load& load_;
  const std::uint32_t count_;
  const LatencySamples* const samples_;
  Contents contents_;
  const Ticks start_;
  Slicer slicer_;
  std::uint64_t first_ = 0;
  Ticks timed_ = 0, timed_before_ = 0;
};

}  // namespace gdr::perf
