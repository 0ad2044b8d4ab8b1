// Stage: what all sessions of one server share. One client at a time measures, since two would
// disturb each other; those that only talk disturb nobody and are answered beside it. And the
// number of probes that nobody has answered is bounded for all clients together.
//
//   Stage stage;
//   if (!stage.enter(20 * kSecond, go_on)) ...   // another client is measuring
//   stage.leave();
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>

#include "base/clock.h"

namespace gdr::perf {

// Whether there is any sense in waiting on: nobody has interrupted, the other side is there, and
// there is time left.
using GoOn = std::function<bool()>;

class Stage {
 public:
  // False: another client is there still after `patience`, or it makes no sense to wait.
  bool enter(Nanoseconds patience, const GoOn& go_on);
  void leave();

  // So that a server sends hardly anything to places that never answer, whoever asks it to: some at
  // once, and from then on one a second. False as above.
  bool take_probe(Nanoseconds patience, const GoOn& go_on);
  // It was answered.
  void give_back_probe();

 private:
  static constexpr double kProbes = 8;
  bool await(Nanoseconds patience, const GoOn& go_on, const std::function<bool()>& done);
  void refill();

  std::mutex mutex_;
  std::condition_variable changed_;
  bool taken_ = false;
  double probes_ = kProbes;
  Nanoseconds refilled_at_ = now();
};

}  // namespace gdr::perf
