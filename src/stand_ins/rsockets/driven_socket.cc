#include "rsockets/driven_socket.h"

#include <fcntl.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

namespace gdr::rsockets {
namespace {

// Longer ones are none.
constexpr std::chrono::seconds kLongestTimeout{1'000'000'000};

}  // namespace

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

bool DrivenSocket::try_until(Lock& lock, Clock::time_point until) {
  while (!lock.try_lock()) {
    if (Clock::now() >= until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

int DrivenSocket::set_timeout(int option, const void* value, socklen_t length) {
  if (option != SO_RCVTIMEO && option != SO_SNDTIMEO) return -ENOPROTOOPT;
  timeval asked{};
  if (length < sizeof asked) return -EINVAL;
  std::memcpy(&asked, value, sizeof asked);
  if (asked.tv_usec < 0 || asked.tv_usec >= 1'000'000) return -EDOM;
  auto& timeout = option == SO_RCVTIMEO ? receive_timeout_ : send_timeout_;
  timeout.reset();
  // As the kernel does: 0 is none, and less than 0 is at once.
  if (asked.tv_sec < 0) {
    timeout = Clock::duration::zero();
  } else if ((asked.tv_sec != 0 || asked.tv_usec != 0) && asked.tv_sec < kLongestTimeout.count()) {
    timeout = std::chrono::seconds(asked.tv_sec) + std::chrono::microseconds(asked.tv_usec);
  }
  return 0;
}

int DrivenSocket::timeout(int option, void* value, socklen_t* length) const {
  if (option != SO_RCVTIMEO && option != SO_SNDTIMEO) return -ENOPROTOOPT;
  const auto& timeout = option == SO_RCVTIMEO ? receive_timeout_ : send_timeout_;
  const auto kept =
      std::chrono::duration_cast<std::chrono::microseconds>(timeout.value_or(Clock::duration()));
  timeval answer{};
  answer.tv_sec = static_cast<time_t>(kept.count() / 1'000'000);
  answer.tv_usec = static_cast<suseconds_t>(kept.count() % 1'000'000);
  const socklen_t size = std::min<socklen_t>(*length, sizeof answer);
  std::memcpy(value, &answer, size);
  *length = size;
  return 0;
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
