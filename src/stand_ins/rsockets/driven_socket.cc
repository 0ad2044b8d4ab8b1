#include "rsockets/driven_socket.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

namespace gdr::rsockets {

bool DrivenSocket::nonblocking(int flags) const {
  return (flags_ & O_NONBLOCK) != 0 || (flags & MSG_DONTWAIT) != 0;
}

int DrivenSocket::status_flags() const {
  const Lock lock(mutex_);
  return O_RDWR | flags_;
}

void DrivenSocket::set_status_flags(int flags) {
  const Lock lock(mutex_);
  flags_ = flags & O_NONBLOCK;
}

std::chrono::milliseconds DrivenSocket::longest_sleep(std::optional<Clock::time_point> until) {
  using std::chrono::milliseconds;
  const auto longest = milliseconds(settings().wake_up_ms);
  if (!until) return longest;
  const auto left = std::chrono::ceil<milliseconds>(*until - Clock::now());
  return std::clamp(left, milliseconds(0), longest);
}

int DrivenSocket::lead(Lock& lock, std::span<pollfd> sleep_on, std::chrono::milliseconds longest) {
  has_leader_ = true;
  lock.unlock();
  const int count = poll(sleep_on.data(), sleep_on.size(), static_cast<int>(longest.count()));
  const int result = count < 0 ? -errno : count;
  lock.lock();
  has_leader_ = false;
  return result;
}

}  // namespace gdr::rsockets
