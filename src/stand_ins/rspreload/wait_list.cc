#include "rspreload/wait_list.h"

#include <rdma/rsocket.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <ctime>
#include <new>

#include "rspreload/fork_handshake.h"
#include "rspreload/inside.h"
#include "rspreload/table.h"

namespace gdr::rspreload {
namespace {

// Handshakes are looked at again after so long: nothing tells of a peer that has given up, or that
// another process has let go of the port.
constexpr std::int64_t kHandshakeTurn = 100, kPortTurn = 1;

std::int64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1000 + time.tv_nsec / 1'000'000;
}

}  // namespace

WaitList::WaitList(pollfd* fds, nfds_t count) : fds_(fds), count_(count) {
  is_ours_ = std::any_of(fds, fds + count, [](const pollfd& one) {
    const Held held = find(one.fd);
    return held && (held->rsocket.load() >= 0 || is_undecided(*held));
  });
}

// For all, whatever they were when the list was made: another thread may have changed that since.
// False: errno says why.
bool WaitList::make_room() {
  if (count_ <= kOnStack) return true;
  many_.reset(new (std::nothrow) pollfd[count_]);
  many_substitutes_.reset(new (std::nothrow) bool[count_]);
  list_ = many_.get();
  substitutes_ = many_substitutes_.get();
  if (list_ != nullptr && substitutes_ != nullptr) return true;
  errno = ENOMEM;
  return false;
}

void WaitList::fill() {
  waits_for_handshake_ = waits_for_port_ = false;
  for (nfds_t i = 0; i < count_; ++i) {
    list_[i] = {fds_[i].fd, fds_[i].events, 0};
    substitutes_[i] = false;
    const Held held = find(fds_[i].fd);
    if (!held) continue;
    if (is_undecided(*held) && shake_hands(*held, fds_[i].fd, false) == Handshake::kWaits) {
      list_[i] = awaited(*held, fds_[i].fd);
      substitutes_[i] = waits_for_handshake_ = true;
      waits_for_port_ = waits_for_port_ || list_[i].fd < 0;
      continue;
    }
    if (const int rsocket = held->rsocket.load(); rsocket >= 0) list_[i].fd = rsocket;
  }
}

// How many have events.
int WaitList::hand_over() {
  int found = 0;
  for (nfds_t i = 0; i < count_; ++i) {
    fds_[i].revents = substitutes_[i] ? short{0} : list_[i].revents;
    if (fds_[i].revents != 0) ++found;
  }
  return found;
}

int WaitList::poll_list(std::int64_t longest) {
  const Inside inside;
  return rpoll(list_, count_, static_cast<int>(std::min<std::int64_t>(longest, INT_MAX)));
}

int WaitList::wait(std::int64_t milliseconds) {
  if (!make_room()) return -1;
  const std::int64_t end = milliseconds < 0 ? -1 : now() + milliseconds;
  for (;;) {
    fill();
    std::int64_t longest = end < 0 ? -1 : std::max<std::int64_t>(end - now(), 0);
    const std::int64_t turn = waits_for_port_ ? kPortTurn : kHandshakeTurn;
    if (waits_for_handshake_) longest = longest < 0 ? turn : std::min(longest, turn);
    if (poll_list(longest) < 0) return -1;
    const int found = hand_over();
    if (found != 0 || (end >= 0 && now() >= end)) return found;
  }
}

}  // namespace gdr::rspreload
