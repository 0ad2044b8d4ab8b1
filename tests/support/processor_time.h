// processor_time(): what this process has used of the processors, with all its threads; other work
// on the machine does not count. A claim about it compares two figures of one process.
//
//   const Nanoseconds few = processor_time_of([&] { read(thousand); });
//   EXPECT_LT(processor_time_of([&] { read(ten_thousand); }), 40 * few);
#pragma once

#include <time.h>

#include <algorithm>

#include "base/clock.h"

namespace gdr::test {

inline Nanoseconds processor_time(clockid_t clock = CLOCK_PROCESS_CPUTIME_ID) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<Nanoseconds>(t.tv_sec) * kSecond + static_cast<Nanoseconds>(t.tv_nsec);
}

// Of the quickest of several runs: caches that others have emptied meanwhile make one slower.
template <typename Work>
Nanoseconds processor_time_of(const Work& work, int runs = 3) {
  Nanoseconds least = ~Nanoseconds{0};
  for (; runs > 0; --runs) {
    const Nanoseconds before = processor_time();
    work();
    least = std::min(least, processor_time() - before);
  }
  return least;
}

}  // namespace gdr::test
