// Task: what a thread of either side carries out for one row, and what came of it.
//
//   Outcome outcome;
//   run_stream(task, outcome);
//   if (!outcome.done) ...
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "perf/station.h"
#include "perf/statistics/clock.h"
#include "perf/statistics/samples.h"

namespace gdr::perf {

class Verifier;

// How many messages will have arrived at the end: nothing, until the other side has said so. Any
// number that it may say is one.
class Expected {
 public:
  void set(std::uint64_t messages) {
    messages_.store(messages, std::memory_order_relaxed);
    known_.store(true, std::memory_order_release);
  }
  std::optional<std::uint64_t> get() const {
    if (!known_.load(std::memory_order_acquire)) return std::nullopt;
    return messages_.load(std::memory_order_relaxed);
  }

 private:
  std::atomic<std::uint64_t> messages_{0};
  std::atomic<bool> known_{false};
};

// What the threads of a side tell each other of one station while a row runs.
struct Signals {
  Expected expected;
  // With --check: messages that were compared as they arrived.
  std::atomic<std::uint64_t> received{0};
  // And when the last look for more began that found none.
  std::atomic<Nanoseconds> looked_at{0};
  // With --check of both ways, the server's: windows that it was asked to send and has sent, and
  // when that last one had gone.
  std::atomic<std::uint64_t> windows_asked{0}, windows_sent{0};
  std::atomic<Ticks> sent_at{0};
};

struct Task {
  Station& station;
  const TickClock& clock;
  std::uint32_t index = 0;  // of the station, the same on both sides
  std::uint64_t size = 0;
  Measure measure = Measure::kBandwidth;
  std::uint32_t signal_every = 1;
  Timing timing;
  std::uint64_t seed = 0;  // of the contents, with --check
  bool is_client = true;
  bool sends = true, receives = false;
  Verifier* verifier = nullptr;  // asks the server; of a client with --check

  // Set by others.
  std::atomic<bool>* stop = nullptr;  // the other side has sent all that it will send
  const std::atomic<bool>* abort = nullptr;
  Signals* signals = nullptr;

  // The other side sends to it, or reads from it.
  bool is_target() const { return !is_client || station.plan().load.both_ways; }
  bool aborted() const { return abort->load(std::memory_order_relaxed); }
  bool stopped() const { return stop->load(std::memory_order_relaxed); }
};

struct Outcome {
  Result<void> done;
  std::vector<Slice> slices;
  std::vector<Samples> samples;        // a repetition each
  std::vector<std::uint64_t> sent;     // on each queue pair; fewer: nothing on the others
  std::atomic<bool> has_sent{false};   // `sent` and `slices` are final
  std::atomic<bool> has_ended{false};  // all of it is, and the thread does nothing more
  std::uint64_t received = 0, lost = 0;
  std::uint64_t checked = 0;            // messages
  std::atomic<std::uint64_t> wrong{0};  // of them
  std::string first_wrong;              // others may read it once `wrong` is not 0
  Ticks timed = 0, checking = 0;

  void add_wrong(std::string what, std::uint64_t count = 1) {
    if (count == 0) return;
    if (wrong.load() == 0) first_wrong = std::move(what);
    wrong.fetch_add(count);
  }
  void fail(Error error) {
    if (done) done = std::move(error);
  }
};

}  // namespace gdr::perf
