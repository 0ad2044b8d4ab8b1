// Waits: whether what a process waited for, time and again, came by itself or by the tick of its
// service thread, which looks once a second. A busy machine makes some waits long, a tick all but
// the first, which may begin anywhere between two of them.
//
//   waits.add([&] { target.take_message(); });
//   waits.require_quicker_than_ticks();
#pragma once

#include "base/clock.h"
#include "process.h"

namespace gdr::test {

class Waits {
 public:
  template <typename Wait>
  void add(const Wait& wait) {
    const Nanoseconds start = now();
    wait();
    if (now() - start < kSecond / 2) ++short_ones_;
  }
  void require_quicker_than_ticks() const {
    require(short_ones_ > 2, "not by the service thread's tick, which is a second");
  }

 private:
  int short_ones_ = 0;
};

}  // namespace gdr::test
