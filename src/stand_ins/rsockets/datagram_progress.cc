// What drives a datagram socket: arrivals, and sleep.
#include <algorithm>
#include <cerrno>

#include "rsockets/datagram_socket.h"

namespace gdr::rsockets {

void DatagramSocket::progress() {
  take_messages();
  if (is_blocked_ && can_send()) {
    is_blocked_ = false;
    count_edge();
  }
}

void DatagramSocket::look() {
  take_packets();
  progress();
}

void DatagramSocket::add_descriptors(std::vector<pollfd>& sleep_on) const {
  // Packets that have to wait for the program would end each sleep at once.
  if (arrivals_.empty()) sleep_on.push_back({udp_.get(), POLLIN, 0});
  for (const auto& endpoint : endpoints_) {
    sleep_on.push_back({endpoint->completions().descriptor(), POLLIN, 0});
  }
}

// True: all were armed before.
bool DatagramSocket::arm() {
  bool before = true;
  for (const auto& endpoint : endpoints_) {
    before = before && endpoint->completions().armed();
    endpoint->completions().arm();
  }
  return before;
}

void DatagramSocket::take_events() {
  for (const auto& endpoint : endpoints_) endpoint->completions().take_events();
}

int DatagramSocket::sleep(Lock& lock, std::optional<Clock::time_point> until) {
  const auto longest = longest_sleep(until);
  if (has_leader()) {
    follow(lock, longest);
    progress();
    return 0;
  }
  // What came before they were armed gives no event: look again before sleeping.
  if (!arm()) {
    progress();
    return 0;
  }
  std::vector<pollfd> sleep_on;
  add_descriptors(sleep_on);
  const int count = lead(lock, sleep_on, longest);
  if (count > 0) take_events();
  look();
  changed_.notify_all();
  return count < 0 ? count : 0;
}

short DatagramSocket::ready_now(short events) const {
  int found = 0;
  if (!arrivals_.empty() || !may_read_) found |= events & (POLLIN | POLLRDNORM);
  if (!may_read_) found |= events & POLLRDHUP;
  if (can_send() || !may_write_) found |= events & (POLLOUT | POLLWRNORM);
  if (!may_read_ && !may_write_) found |= POLLHUP;
  if (error_ != 0) found |= POLLERR;
  return static_cast<short>(found);
}

Readiness DatagramSocket::ready(short events) {
  const Lock lock(mutex_);
  progress();
  if (const short found = ready_now(events); found != 0) return {found, edges()};
  look();
  return {ready_now(events), edges()};
}

short DatagramSocket::prepare_sleep(short events, std::vector<pollfd>& sleep_on) {
  const Lock lock(mutex_);
  arm();
  look();
  if (const short found = ready_now(events); found != 0) return found;
  add_descriptors(sleep_on);
  return 0;
}

void DatagramSocket::woken() {
  const Lock lock(mutex_);
  // A leader takes the events itself: it would sleep on if it found none.
  if (!has_leader()) take_events();
  look();
  changed_.notify_all();
}

}  // namespace gdr::rsockets
