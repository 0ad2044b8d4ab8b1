// soon(): waits for something that another thread or process does, and looks time and again.
//
//   EXPECT_TRUE(soon([&] { return calls > before; }));
#pragma once

#include <unistd.h>

#include "base/clock.h"

namespace gdr::test {

// A limit only ends what would wait for ever: on a busy machine a test gets a tenth of a processor,
// and what takes milliseconds takes seconds.
constexpr Nanoseconds kLastResort = 100 * kSecond;
constexpr int kLastResortMs = kLastResort / kMillisecond;

template <typename Claim>
bool soon(const Claim& claim, Nanoseconds patience = kLastResort) {
  for (const Nanoseconds end = now() + patience; !claim(); usleep(200)) {
    if (now() >= end) return false;
  }
  return true;
}

}  // namespace gdr::test
