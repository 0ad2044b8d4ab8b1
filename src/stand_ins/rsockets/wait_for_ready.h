// wait_for_ready: how rpoll() and repoll_wait() wait. They look again and again for a moment, since
// an answer mostly comes soon (settings().polling_us), and then sleep between looks.
//
//   return wait_for_ready(any, timeout, [&] { return check(all); },
//                         [&](milliseconds longest) { return sleep(all, longest); });
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "rsockets/settings.h"

namespace gdr::rsockets {

// What `look` returns once it is not 0; 0 at the end of the time, which is for ever without one;
// the error (below 0) of `sleep`. `spins`: there is something to look at that no sleep is told of.
template <typename Look, typename Sleep>
int wait_for_ready(bool spins, std::optional<std::chrono::steady_clock::duration> timeout,
                   Look look, Sleep sleep) {
  using Clock = std::chrono::steady_clock;
  using std::chrono::milliseconds;
  const auto begin = Clock::now();
  const auto spin_until = begin + std::chrono::microseconds(settings().polling_us);
  do {
    const int ready = look();
    if (ready != 0 || (timeout && *timeout <= Clock::duration::zero())) return ready;
  } while (spins && Clock::now() < spin_until);
  for (;;) {
    // Another thread may take the event that would have woken this one: look again now and then.
    auto longest = milliseconds(settings().wake_up_ms);
    if (timeout) {
      const auto left = *timeout - (Clock::now() - begin);
      if (left <= Clock::duration::zero()) return 0;
      longest = std::min(longest, std::chrono::ceil<milliseconds>(left));
    }
    if (const int error = sleep(longest); error < 0) return error;
    if (const int ready = look(); ready != 0) return ready;
  }
}

}  // namespace gdr::rsockets
