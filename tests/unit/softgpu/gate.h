// What the tests of streams hold a stream with.
#pragma once

#include <atomic>
#include <thread>

namespace gdr::softgpu {

// Holds a stream at a point until it is let go.
struct Gate {
  std::atomic<bool> open{false};
  std::atomic<bool> reached{false};
  static void wait(void* self) {
    auto* gate = static_cast<Gate*>(self);
    gate->reached = true;
    while (!gate->open) std::this_thread::yield();
  }
};

}  // namespace gdr::softgpu
