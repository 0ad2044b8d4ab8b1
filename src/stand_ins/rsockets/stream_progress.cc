// What drives a stream socket's connection: completions, credits for the peer, and sleep.
#include <poll.h>

#include <algorithm>
#include <cerrno>

#include "rsockets/stream_socket.h"

namespace gdr::rsockets {

void StreamSocket::progress() {
  if (!endpoint_ || state_ == State::kAccepting || state_ == State::kConnecting) return;
  Completion done[Endpoint::kBatch];
  std::uint32_t received = 0;
  int count = 0;
  // It ends: receives are posted again only behind the loop.
  while ((count = endpoint_->poll(done)) > 0) {
    for (int i = 0; i < count; ++i) {
      if (done[i].received && done[i].status == IBV_WC_SUCCESS) ++received;
      handle(done[i]);
    }
  }
  if (!connected()) return;
  if (count < 0 || endpoint_->post_receives(received) != 0) return fail(EIO);
  give_credits();
  if (is_blocked_ && can_send()) {
    is_blocked_ = false;
    count_edge();
  }
}

void StreamSocket::handle(const Completion& done) {
  if (!done.received) {
    const Operation operation = done.message.operation;
    if (operation == Operation::kTargets || operation == Operation::kControl) {
      control_slots_.give_back();
    } else {
      ++send_slots_;
      send_ring_.release(done.ring_bytes);
    }
  }
  if (done.status != IBV_WC_SUCCESS) {
    // Flushed: the queue pair broke, or the other side has gone without a word.
    const bool silent = done.status == IBV_WC_RETRY_EXC_ERR;
    if (connected()) fail(silent ? ETIMEDOUT : ECONNRESET);
    return;
  }
  if (done.received) {
    if (!connected()) return;
    if (!done.has_immediate) return fail(EPROTO);
    return handle_message(done.message);
  }
  if (done.message.operation == Operation::kControl && connected() &&
      done.message.value == static_cast<std::uint32_t>(Control::kDisconnect)) {
    state_ = State::kDisconnected;
    may_read_ = may_write_ = false;
  }
}

// Whatever a peer sends, it harms its own connection only.
void StreamSocket::handle_message(Immediate message) {
  switch (message.operation) {
    case Operation::kData:
      if (!receive_ring_->arrived(message.value)) return fail(EPROTO);
      return count_edge();
    case Operation::kTargets:
      if (!send_credits_.grant(static_cast<std::uint16_t>(message.value))) fail(EPROTO);
      return;
    case Operation::kMapping:
      // The peer counted it as one of its messages.
      receive_credits_.consumed();
      return;
    case Operation::kControl:
      break;
    default:
      return fail(EPROTO);
  }
  if (message.value == static_cast<std::uint32_t>(Control::kShutdown)) {
    may_read_ = false;
    count_edge();
    if (may_write_) return;
  } else if (message.value != static_cast<std::uint32_t>(Control::kDisconnect)) {
    return;  // keepalive, or one that came later
  }
  state_ = State::kDisconnected;
  may_read_ = may_write_ = false;
  count_edge();
}

void StreamSocket::give_credits() {
  if (!connected() || !control_slots_.available()) return;
  const bool half = receive_ring_->half_is_free();
  if (!half && !receive_credits_.due()) return;
  const std::uint32_t slot = control_slots_.take();
  const Immediate message{Operation::kTargets, receive_credits_.announce()};
  int error = 0;
  if (half) {
    const RegisteredBytes& buffer = endpoint_->receive_memory();
    const RemoteRange range{buffer.address() + receive_ring_->grant_half(), buffer.rkey(),
                            receive_ring_->half()};
    const RemoteRange entry{peer_.targets.address + std::uint64_t{next_target_} * kTargetBytes,
                            peer_.targets.key, kTargetBytes};
    next_target_ = (next_target_ + 1) % peer_.targets.length;
    error = endpoint_->post_target(message, encode_target(range, peer_.big_endian), slot, entry);
  } else {
    error = endpoint_->post_message(message);
  }
  if (error != 0) fail(EIO);
}

void StreamSocket::look() {
  handle_events();
  progress();
}

int StreamSocket::sleep(Lock& lock, std::optional<Clock::time_point> until) {
  const auto longest = longest_sleep(until);
  if (has_leader()) {
    follow(lock, longest);
    progress();
    return 0;
  }
  pollfd sleep_on[2]{{channel_->fd, POLLIN, 0}, {-1, POLLIN, 0}};
  if (endpoint_) {
    Completions& completions = endpoint_->completions();
    sleep_on[1].fd = completions.descriptor();
    if (!completions.armed()) {
      // What came before it was armed gives no event: look again before sleeping.
      const bool armed = completions.arm();
      progress();
      return armed ? 0 : -EIO;
    }
  }
  const int count = lead(lock, sleep_on, longest);
  if (count > 0 && sleep_on[1].revents != 0) endpoint_->completions().take_events();
  look();
  changed_.notify_all();
  return count < 0 ? count : 0;
}

short StreamSocket::ready_now(short events) {
  if (state_ == State::kListening) {
    if (accepted_.empty()) return 0;
    return static_cast<short>(events & (POLLIN | POLLRDNORM));
  }
  if (opening()) return 0;
  if (state_ == State::kIdle || state_ == State::kBound) {
    return static_cast<short>(POLLHUP | (events & POLLOUT));
  }
  int found = 0;
  const bool readable = !may_read_ || (receive_ring_ && receive_ring_->readable() > 0);
  if (readable) found |= events & (POLLIN | POLLRDNORM);
  if (!may_read_) found |= events & POLLRDHUP;
  if (!connected() || can_send()) found |= events & (POLLOUT | POLLWRNORM);
  if (state_ == State::kDisconnected || state_ == State::kFailed) found |= POLLHUP;
  if (state_ == State::kFailed && error_ != 0) found |= POLLERR;
  return static_cast<short>(found);
}

Readiness StreamSocket::ready(short events) {
  const Lock lock(mutex_);
  progress();
  if (const short found = ready_now(events); found != 0) return {found, edges()};
  look();
  return {ready_now(events), edges()};
}

short StreamSocket::prepare_sleep(short events, std::vector<pollfd>& sleep_on) {
  const Lock lock(mutex_);
  if (endpoint_) endpoint_->completions().arm();
  look();
  if (const short found = ready_now(events); found != 0) return found;
  sleep_on.push_back({channel_->fd, POLLIN, 0});
  if (endpoint_) sleep_on.push_back({endpoint_->completions().descriptor(), POLLIN, 0});
  return 0;
}

void StreamSocket::woken() {
  const Lock lock(mutex_);
  // A leader takes the event itself: it would sleep on if it found none.
  if (endpoint_ && !has_leader()) endpoint_->completions().take_events();
  look();
  changed_.notify_all();
}

}  // namespace gdr::rsockets
