// How a stream socket's connection ends: in one direction or both, with what was sent delivered.
#include <algorithm>
#include <cerrno>

#include "rsockets/stream_socket.h"

namespace gdr::rsockets {
namespace {

// A peer that takes nothing must not hold its other side for ever; as long as tcp_fin_timeout.
constexpr std::chrono::seconds kLongestLinger{60};

}  // namespace

bool StreamSocket::all_delivered() const {
  return control_slots_.idle() && send_slots_ + ControlSlots::kSlots == options_.sizes.send_queue;
}

// Tells the peer and waits until that and all data before it have arrived. A signal does not end
// the wait: there is no way to take it up again.
int StreamSocket::say_goodbye(Lock& lock, Control what, Clock::time_point until) {
  const auto wait_for = [&](auto done) {
    int error = 0;
    do {
      error = wait(lock, false, done, until);
    } while (error == -EINTR);
    return error;
  };
  if (int error = wait_for([&] { return !connected() || control_slots_.available(); })) {
    return error;
  }
  if (!connected()) return 0;
  control_slots_.take();
  const Immediate message{Operation::kControl, static_cast<std::uint32_t>(what)};
  if (endpoint_->post_message(message) != 0) {
    fail(EIO);
    return -EIO;
  }
  return wait_for([&] { return !connected() || all_delivered(); });
}

int StreamSocket::shutdown(int how) {
  if (how != SHUT_RD && how != SHUT_WR && how != SHUT_RDWR) return -EINVAL;
  Lock lock(mutex_);
  if (opening()) {
    if (const int error = finish_opening(lock, nonblocking(0)); error != 0) return -ENOTCONN;
  }
  if (state_ == State::kDisconnected) {
    wrote_last_ = wrote_last_ || how != SHUT_RD;
    return 0;
  }
  if (!connected()) return -ENOTCONN;
  const bool writes = how != SHUT_RD && may_write_;
  if (how != SHUT_WR) may_read_ = false;
  if (how != SHUT_RD) {
    wrote_last_ = true;
    may_write_ = false;
  }
  // The peer is told when we stop sending; that we stop reading has no message of its own.
  int error = 0;
  if (!may_read_ && !may_write_) {
    error = say_goodbye(lock, Control::kDisconnect, Clock::now() + kLongestLinger);
  } else if (writes) {
    error = say_goodbye(lock, Control::kShutdown, Clock::now() + kLongestLinger);
  }
  changed_.notify_all();
  return error;
}

void StreamSocket::close() {
  Lock lock(mutex_);
  auto linger = Clock::duration(kLongestLinger);
  if (options_.linger_seconds) {
    linger = std::min(linger, Clock::duration(std::chrono::seconds(*options_.linger_seconds)));
  }
  finish(lock, Clock::now() + linger);
}

void StreamSocket::close_until(Clock::time_point until) {
  Lock lock(mutex_, std::defer_lock);
  if (try_until(lock, until)) finish(lock, until);
}

void StreamSocket::finish(Lock& lock, Clock::time_point until) {
  look();
  // Accepted, but not yet said so: the peer is owed an orderly end all the same.
  if (state_ == State::kAccepting) {
    while (wait(
               lock, false, [this] { return !opening(); }, until) == -EINTR) {
    }
  }
  if (connected()) {
    may_read_ = may_write_ = false;
    wrote_last_ = true;
    say_goodbye(lock, Control::kDisconnect, until);
  }
  if (state_ == State::kConnected || state_ == State::kDisconnected ||
      (state_ == State::kFailed && endpoint_)) {
    disconnect();
  }
  if (state_ != State::kDisconnected) fail(EBADF);
  accepted_.clear();
  // Other threads may still be asleep in here; the last of them destroys it.
  changed_.notify_all();
}

}  // namespace gdr::rsockets
