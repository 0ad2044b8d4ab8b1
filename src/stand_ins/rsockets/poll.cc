#include "rsockets/poll.h"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <vector>

#include "rsockets/descriptor_table.h"
#include "rsockets/wait_for_ready.h"

namespace gdr::rsockets {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

struct Watched {
  pollfd* wanted = nullptr;
  std::shared_ptr<Waitable> other;  // null: an ordinary descriptor
};

// What is ready right now.
int check(std::vector<Watched>& all) {
  int ready = 0;
  for (Watched& one : all) {
    if (one.other) {
      one.wanted->revents = one.other->ready(one.wanted->events).events;
    } else {
      one.wanted->revents = 0;
      if (one.wanted->fd >= 0) ::poll(one.wanted, 1, 0);
    }
    if (one.wanted->revents != 0) ++ready;
  }
  return ready;
}

// Less than 0: an error. The descriptors that an rsocket sleeps on stand for no event of its own,
// so whatever woke us, all are checked again.
int sleep(std::vector<Watched>& all, milliseconds longest) {
  std::vector<pollfd> sleep_on;
  for (Watched& one : all) {
    if (!one.other) {
      sleep_on.push_back({one.wanted->fd, one.wanted->events, 0});
    } else if (one.other->prepare_sleep(one.wanted->events, sleep_on) != 0) {
      return 0;
    }
  }
  if (::poll(sleep_on.data(), sleep_on.size(), static_cast<int>(longest.count())) < 0) {
    return -errno;
  }
  for (Watched& one : all) {
    if (one.other) one.other->woken();
  }
  return 0;
}

}  // namespace

int poll_descriptors(std::span<pollfd> wanted, std::optional<Clock::duration> timeout) {
  std::vector<Watched> all;
  bool any = false;
  for (pollfd& one : wanted) {
    all.push_back({&one, find_waitable(one.fd)});
    any = any || all.back().other;
  }
  return wait_for_ready(
      any, timeout, [&] { return check(all); },
      [&](milliseconds longest) { return sleep(all, longest); });
}

int select_descriptors(int count, fd_set* read, fd_set* write, fd_set* except, timeval* timeout) {
  if (count < 0 || count > FD_SETSIZE) return -EINVAL;
  std::vector<pollfd> wanted;
  for (int fd = 0; fd < count; ++fd) {
    short events = 0;
    if (read != nullptr && FD_ISSET(fd, read)) events |= POLLIN;
    if (write != nullptr && FD_ISSET(fd, write)) events |= POLLOUT;
    if (except != nullptr && FD_ISSET(fd, except)) events |= POLLPRI;
    if (events != 0) wanted.push_back({fd, events, 0});
  }
  std::optional<Clock::duration> longest;
  if (timeout != nullptr) {
    if (timeout->tv_sec < 0 || timeout->tv_usec < 0) return -EINVAL;
    longest = std::chrono::seconds(std::min<std::int64_t>(timeout->tv_sec, 1'000'000'000)) +
              std::chrono::microseconds(timeout->tv_usec);
  }
  const int ready = poll_descriptors(wanted, longest);
  if (ready < 0) return ready;
  if (std::ranges::any_of(wanted,
                          [](const pollfd& one) { return (one.revents & POLLNVAL) != 0; })) {
    return -EBADF;
  }
  int found = 0;
  const auto keep = [&](fd_set* set, short asked, int events) {
    if (set == nullptr) return;
    FD_ZERO(set);
    for (const pollfd& one : wanted) {
      if ((one.events & asked) == 0 || (one.revents & events) == 0) continue;
      FD_SET(one.fd, set);
      ++found;
    }
  };
  keep(read, POLLIN, POLLIN | POLLHUP | POLLERR);
  keep(write, POLLOUT, POLLOUT | POLLERR);
  keep(except, POLLPRI, POLLPRI);
  return found;
}

}  // namespace gdr::rsockets
