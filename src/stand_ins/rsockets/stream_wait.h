// StreamSocket::wait(): included by stream_socket.h only.
#pragma once

#include "rsockets/settings.h"
#include "rsockets/stream_socket.h"

namespace gdr::rsockets {

// Drives the connection until `done`, with the mutex let go while it sleeps. -EAGAIN: not done, and
// must not wait or waited until `until`; -EINTR: a signal came.
template <typename Done>
int StreamSocket::wait(Lock& lock, bool nonblocking, Done done,
                       std::optional<Clock::time_point> until) {
  progress();
  if (done()) return 0;
  look();
  if (done()) return 0;
  if (nonblocking) return -EAGAIN;
  const auto spin_until = Clock::now() + std::chrono::microseconds(settings().polling_us);
  while (Clock::now() < spin_until) {
    progress();
    if (done()) return 0;
  }
  for (;;) {
    const int error = sleep(lock, until);
    if (done()) return 0;
    if (error != 0) return error;
    if (until && Clock::now() >= *until) return -EAGAIN;
  }
}

}  // namespace gdr::rsockets
