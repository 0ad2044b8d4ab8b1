#include "process/conversation.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>

#include "base/bytes.h"

namespace gdr::process {
namespace {

constexpr Nanoseconds kSendPatience = 10 * kSecond;
constexpr Nanoseconds kLook = 100 * kMillisecond;    // between two looks at an interruption
constexpr Nanoseconds kSleep = 24 * 3600 * kSecond;  // as long as poll() counts

Error gone() { return {ECONNRESET, "the other side closed the connection"}; }

}  // namespace

Result<void> wait_for(int fd, short events, Nanoseconds deadline,
                      const std::atomic<bool>* interrupted) {
  for (;;) {
    if (interrupted != nullptr && interrupted->load()) return Error{EINTR, "interrupted"};
    const Nanoseconds time = now();
    if (time >= deadline) return Error{ETIMEDOUT, "the other side does not answer"};
    const Nanoseconds left = std::min(deadline - time, interrupted != nullptr ? kLook : kSleep);
    pollfd entry{fd, events, 0};
    const int ready = poll(&entry, 1, static_cast<int>(left / kMillisecond) + 1);
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return from_errno("poll");
  }
}

Result<std::array<UniqueFd, 2>> Connection::pair() {
  int fds[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) return from_errno("socketpair");
  return std::array<UniqueFd, 2>{UniqueFd(fds[0]), UniqueFd(fds[1])};
}

Error unexpected(std::uint8_t kind) {
  return {EPROTO, "unexpected message " + std::to_string(kind)};
}

Result<void> Connection::send_raw(std::uint8_t kind, const Bytes& bytes) {
  if (bytes.size() > kLargestMessage) return Error{EMSGSIZE, "message too long"};
  const Bytes all = frame(kind, bytes, leaving_seal_ ? &*leaving_seal_ : nullptr);
  const Nanoseconds deadline = now() + kSendPatience;
  for (std::size_t at = 0; at < all.size();) {
    const ssize_t sent =
        ::send(fd_.get(), all.data() + at, all.size() - at, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      at += static_cast<std::size_t>(sent);
    } else if (errno == EAGAIN) {
      if (Result<void> room = wait_for(POLLOUT, deadline); !room) return room;
    } else if (errno == EPIPE || errno == ECONNRESET) {
      return gone();
    } else if (errno != EINTR) {
      return from_errno("send");
    }
  }
  return {};
}

void Connection::seal(const Agreement& agreement, Side self) {
  leaving_seal_.emplace(agreement.frame_key(self));
  arriving_seal_.emplace(agreement.frame_key(other(self)));
}

Result<void> Connection::wait_for(short events, Nanoseconds deadline) const {
  return process::wait_for(fd_.get(), events, deadline, interrupted_);
}

bool Connection::is_closed() const {
  pollfd entry{fd_.get(), POLLRDHUP, 0};
  return poll(&entry, 1, 0) > 0;
}

Result<void> Connection::read_until(std::size_t bytes, Nanoseconds deadline) {
  arriving_.resize(bytes);
  while (arrived_ < bytes) {
    // Also where the other end never lets it wait.
    if (interrupted_ != nullptr && interrupted_->load()) return Error{EINTR, "interrupted"};
    const ssize_t got =
        recv(fd_.get(), arriving_.data() + arrived_, bytes - arrived_, MSG_DONTWAIT);
    if (got > 0) {
      arrived_ += static_cast<std::size_t>(got);
    } else if (got == 0 || errno == ECONNRESET) {
      return gone();
    } else if (errno == EAGAIN) {
      if (Result<void> ready = wait_for(POLLIN, deadline); !ready) return ready;
    } else if (errno != EINTR) {
      return from_errno("recv");
    }
  }
  return {};
}

Result<Received> Connection::receive_any(Nanoseconds timeout) {
  const Nanoseconds deadline = now() + timeout;
  if (arrived_ < kFrameHead) {
    if (Result<void> read = read_until(kFrameHead, deadline); !read) return read.error();
  }
  const std::uint32_t length = load_be32(arriving_.data());
  if (length > most_ + (arriving_seal_ ? Seal::kBytes : 0)) return Error{EPROTO, stranger_};
  if (Result<void> read = read_until(kFrameHead + length, deadline); !read) return read.error();
  const auto body = arriving_.begin() + kFrameHead;
  Received received{static_cast<std::uint8_t>(arriving_[4]), Bytes(body, arriving_.end())};
  arrived_ = 0;
  if (!arriving_seal_) return received;
  if (Result<void> opened = arriving_seal_->open(received); !opened) return opened.error();
  return received;
}

}  // namespace gdr::process
