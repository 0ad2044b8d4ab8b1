// Waitable: what rpoll() and repoll_wait() wait for beside ordinary descriptors.
//
//   if (short found = one.ready(POLLIN).events) return found;
//   std::vector<pollfd> sleep_on;
//   if (one.prepare_sleep(POLLIN, sleep_on) == 0) {
//     poll(sleep_on.data(), sleep_on.size(), timeout);
//     one.woken();
//   }
//
// All of them may be called from any thread.
#pragma once

#include <poll.h>

#include <cstdint>
#include <vector>

namespace gdr::rsockets {

// What a look finds. Both are of the same moment: what comes later is an edge to the next look.
struct Readiness {
  short events = 0;
  std::uint64_t edges = 0;
};

class Waitable {
 public:
  virtual ~Waitable() = default;

  // What poll() would report now, of `events`.
  virtual Readiness ready(short events) = 0;
  // Before a sleep: asks for a wake-up and adds what to sleep on, unless something is ready, which
  // it returns.
  virtual short prepare_sleep(short events, std::vector<pollfd>& sleep_on) = 0;
  // After it: takes the events that ended it.
  virtual void woken() = 0;
  // How often something has come that an edge-triggered wait reports: data, an end, room for data
  // where there was none.
  virtual std::uint64_t edges() const = 0;
};

}  // namespace gdr::rsockets
