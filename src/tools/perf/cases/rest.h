// Rest: what a thread does between two looks at what another one has to do first. It gives its
// processor away; after a millisecond it sleeps, since one that gives away without end is put
// behind all others on a busy machine.
//
//   Rest rest;
//   while (!done.load()) rest.pause();
#pragma once

#include <sched.h>

#include <chrono>
#include <thread>

#include "base/clock.h"

namespace gdr::perf {

class Rest {
 public:
  void pause() {
    if (since_ == 0) since_ = now();
    if (now() - since_ < kMillisecond) {
      sched_yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  }

 private:
  Nanoseconds since_ = 0;  // 0: not yet
};

}  // namespace gdr::perf
