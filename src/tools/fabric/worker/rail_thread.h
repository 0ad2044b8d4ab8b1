// RailThread: a thread that opens a rail, carries out its steps one after the other, and closes it.
//
//   RailThread rail(planned, libraries, settings, bell);
//   bell.wait([&] { return rail.is_idle(); });       // it is open, or could not be opened
//   rail.begin({.phase = Phase::kConnect, .round = 3, .part = part});
//   rail.abandon(host);                              // meanwhile
//   bell.wait([&] { return rail.is_idle(); });
//   send(rail.result());
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "base/result.h"
#include "fabric/messages.h"
#include "fabric/worker/open_rail.h"

namespace gdr::fabric::worker {

// What one waits for who waits for several rails and for messages.
class Bell {
 public:
  // `change` is made while nobody looks.
  void ring(const std::function<void()>& change) {
    const std::lock_guard lock(mutex_);
    change();
    changed_.notify_all();
  }
  void wait(const std::function<bool()>& is_so) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, is_so);
  }
  // For a look without waiting.
  template <typename Look>
  auto look(Look look) {
    const std::lock_guard lock(mutex_);
    return look();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
};

struct RailStep {
  Phase phase = Phase::kConnect;
  std::uint32_t round = 0;
  Nanoseconds deadline = 0;
  std::optional<Part> part;  // kConnect: nothing where the rail rests in this round
};

class RailThread {
 public:
  RailThread(PlannedRail planned, participants::Libraries libraries, Settings settings, Bell& bell);
  // Ends the step that is under way.
  ~RailThread();

  // While the bell is held: in the condition of wait(), or in look().
  bool is_idle() const { return !busy_; }

  // While it is idle.
  const PlannedRail& planned() const { return planned_; }
  const std::optional<Error>& problem() const { return problem_; }  // of opening it
  RailAddress address() const { return address_; }
  const RailResult& result() const { return result_; }
  bool takes_part() const { return part_.has_value(); }
  void begin(const RailStep& step);

  // Those steps of the round that has been connected last end now which need `host`.
  void abandon(HostIndex host);
  // `host` could not send: waiting for it ends now.
  void expect_nothing_of(HostIndex host);

 private:
  void run();
  Result<void> open();
  void carry_out(const RailStep& step);

  const PlannedRail planned_;
  const participants::Libraries libraries_;
  const Settings settings_;
  Bell& bell_;

  std::unique_ptr<OpenRail> rail_;  // made, used and destroyed by the thread
  std::optional<Error> problem_;
  RailAddress address_;
  RailResult result_;
  std::optional<Part> part_;  // in the round that is connected

  bool busy_ = true, ends_ = false;
  std::optional<RailStep> step_;
  std::atomic<bool> lost_to_ = false, lost_from_ = false;
  std::thread thread_;
};

}  // namespace gdr::fabric::worker
