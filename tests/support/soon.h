// soon(): waits for something that another thread or process does, and looks time and again.
//
//   EXPECT_TRUE(soon([&] { return calls > before; }));
#pragma once

#include <unistd.h>

#include "base/clock.h"

namespace gdr::test {

template <typename Claim>
bool soon(const Claim& claim, Nanoseconds patience = 10 * kSecond) {
  for (const Nanoseconds end = now() + patience; !claim(); usleep(200)) {
    if (now() >= end) return false;
  }
  return true;
}

}  // namespace gdr::test
