// Crew: all stations of one side, and the threads that work with them while a row runs.
//
//   Result<std::unique_ptr<Crew>> crew = Crew::create(ports, {load, load.near, largest, mtu},
//   true);
//   (*crew)->connect(their_address);
//   (*crew)->start({size, measure, timing, seed}, nullptr);
//   while (!(*crew)->has_sent()) ...
//   (*crew)->expect(their_sent);
//   CrewOutcome outcome = (*crew)->join();
#pragma once

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "perf/cases/receives.h"
#include "perf/cases/windows.h"
#include "perf/stage.h"

namespace gdr::perf {

struct CrewOutcome {
  Result<void> done;
  std::vector<std::vector<Slice>> slices;  // of each station
  std::vector<Samples> samples;            // of each repetition, all stations together
  std::uint64_t sent = 0, received = 0, lost = 0, checked = 0, wrong = 0;
  std::string first_wrong;
  double share_checking = 0;
  double cores = 0;
};

class Crew {
 public:
  // plan.queue_pairs: of all stations together, which share out plan.load.ports of the ports.
  // `available`: bytes of host memory that all of it may take; nothing: available_memory().
  static Result<std::unique_ptr<Crew>> create(const Ports& ports, const StationPlan& plan,
                                              bool is_client, std::vector<int> processors = {},
                                              std::optional<std::uint64_t> available = {});
  ~Crew();

  SideAddress address() const;
  std::uint64_t registered_bytes() const;
  std::uint64_t largest() const;  // message
  const Load& load() const { return load_; }
  // Also posts what receives there must be before the other side may send.
  Result<void> connect(const SideAddress& theirs, const GoOn& go_on = {});

  Result<void> start(const Start& row, const TickClock& clock, Verifier* verifier);
  // Every station has sent what it will, or has failed.
  bool has_sent() const;
  // On each queue pair, station after station.
  std::vector<std::uint64_t> sent() const;
  // The other side has: stations end once that has arrived. EPROTO: that cannot be.
  Result<void> expect(const std::vector<std::uint64_t>& sent);
  void abort() { abort_.store(true); }
  // Waits for the threads, which end soon: by themselves, since no row's last messages take longer
  // than the other side waits for an answer, or by abort() where there is no sense in waiting.
  CrewOutcome join(const GoOn& go_on = {});

  // For a server with --check, while a row runs: its part of a window. Control thread. EPROTO: the
  // row has no such window.
  Result<void> fill(const Window& window, const GoOn& go_on);
  Result<void> move(const Window& window);
  Result<VerifyWindow::Reply> verify(const Window& window, const GoOn& go_on);

 private:
  struct Post {  // what a station has besides
    std::unique_ptr<Station> station;
    std::unique_ptr<Receives> receives;
    std::unique_ptr<Task> task;
    std::unique_ptr<Outcome> outcome;
    std::unique_ptr<Signals> signals;
    // For windows; the control thread's.
    std::optional<Arrivals> arrivals;
    std::uint64_t told_wrong = 0;
    Ticks asked_at = 0;
    // The thread's, until it says that it is pinned, or cannot be.
    Result<void> pinned;
    std::atomic<bool> is_pinned{false};
    std::thread thread;
  };
  explicit Crew(bool is_client) : is_client_(is_client) {}
  Result<void> prepare(const Start& row, const TickClock& clock, Verifier* verifier);
  Result<void> start_threads();
  static void work(Post& post);
  static Result<void> carry_out(Post& post);
  Result<void> pin_this_thread(std::size_t index) const;
  Result<void> check_window(const Window& window) const;
  static Result<void> await_sent(const Post& post, const GoOn& go_on);
  bool has_ended() const;
  Result<void> await_end(const GoOn& go_on);

  const bool is_client_;
  Load load_;
  std::vector<int> processors_;
  std::vector<std::unique_ptr<Post>> posts_;
  std::atomic<bool> stop_{false}, abort_{false};
  Nanoseconds started_ = 0;
  double processor_time_ = 0;
};

}  // namespace gdr::perf
