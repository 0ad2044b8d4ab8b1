// Bytes from a stream socket's peer to the program.
#include <algorithm>
#include <cerrno>

#include "rsockets/stream_socket.h"

namespace gdr::rsockets {

// Behind the first `skip` bytes of the program's memory.
std::size_t StreamSocket::take_bytes(std::span<const iovec> into, std::size_t skip, bool peek) {
  // Peeking starts over at each piece, so it looks into the first one only.
  std::size_t taken = 0;
  for (const iovec& piece : into) {
    if (skip >= piece.iov_len) {
      skip -= piece.iov_len;
      continue;
    }
    const std::span<std::uint8_t> to(static_cast<std::uint8_t*>(piece.iov_base) + skip,
                                     piece.iov_len - skip);
    skip = 0;
    if (peek) return receive_ring_->peek(to);
    const std::size_t count = receive_ring_->read(to);
    taken += count;
    if (count < to.size()) break;
  }
  grant_what_was_read();
  return taken;
}

// MSG_TRUNC: the program's memory is not written to, and need not be there (tcp(7)).
std::size_t StreamSocket::drop_bytes(std::size_t most) {
  std::uint8_t scratch[4096];
  std::size_t dropped = 0;
  while (dropped < most && receive_ring_->readable() > 0) {
    dropped +=
        receive_ring_->read(std::span(scratch).first(std::min(most - dropped, sizeof scratch)));
  }
  grant_what_was_read();
  return dropped;
}

void StreamSocket::grant_what_was_read() {
  for (std::uint32_t left = receive_ring_->take_finished(); left > 0; --left) {
    receive_credits_.consumed();
  }
  give_credits();
}

ssize_t StreamSocket::receive(std::span<const iovec> into, int flags, sockaddr* from,
                              socklen_t* length, int* /*told*/) {
  constexpr int kKnown =
      MSG_DONTWAIT | MSG_PEEK | MSG_TRUNC | MSG_WAITALL | MSG_NOSIGNAL | MSG_CMSG_CLOEXEC;
  if ((flags & ~kKnown) != 0) return -EOPNOTSUPP;
  Lock lock(mutex_);
  const bool no_wait = nonblocking(flags);
  if (opening()) {
    if (const int error = finish_opening(lock, no_wait); error != 0) return error;
  }
  if (state_ == State::kFailed && !receive_ring_) return error_ != 0 ? -take_error() : -ENOTCONN;
  if (!receive_ring_) return -ENOTCONN;
  std::size_t wanted = 0;
  for (const iovec& piece : into) wanted += piece.iov_len;
  if (wanted == 0) return 0;
  const bool all = (flags & MSG_WAITALL) != 0 && (flags & MSG_PEEK) == 0 && !no_wait;
  std::size_t taken = 0;
  int error = 0;
  for (;;) {
    if (receive_ring_->readable() == 0) {
      const auto done = [this] { return receive_ring_->readable() > 0 || !may_read_; };
      error = wait(lock, no_wait, done, receive_until());
      if (error != 0) break;
    }
    const std::size_t count = (flags & (MSG_PEEK | MSG_TRUNC)) == MSG_TRUNC
                                  ? drop_bytes(wanted - taken)
                                  : take_bytes(into, taken, (flags & MSG_PEEK) != 0);
    taken += count;
    if (count == 0 || taken == wanted || !all) break;
  }
  if (taken == 0 && error == 0 && error_ != 0) error = -take_error();
  if (taken == 0 && error != 0) return error;
  // A connected socket does not tell the sender's name (recvfrom(2)).
  if (from != nullptr && length != nullptr) *length = 0;
  return static_cast<ssize_t>(taken);
}

}  // namespace gdr::rsockets
