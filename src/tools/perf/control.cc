#include "perf/control.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <memory>

#include "base/bytes.h"

namespace gdr::perf {
namespace {

constexpr std::size_t kHead = 5;  // length of the bytes, big endian, and the kind
constexpr Nanoseconds kSendPatience = 10 * kSecond;
constexpr Nanoseconds kLook = 100 * kMillisecond;  // between two looks at an interruption

Result<void> wait_for(int fd, short events, Nanoseconds deadline,
                      const std::atomic<bool>* interrupted) {
  for (;;) {
    if (interrupted != nullptr && interrupted->load()) return Error{EINTR, "interrupted"};
    const Nanoseconds time = now();
    if (time >= deadline) return Error{ETIMEDOUT, "the other side does not answer"};
    const Nanoseconds left = std::min(deadline - time, kLook);
    pollfd entry{fd, events, 0};
    const int ready = poll(&entry, 1, static_cast<int>(left / kMillisecond) + 1);
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return from_errno("poll");
  }
}

Error gone() { return {ECONNRESET, "the other side closed the connection"}; }

Result<UniqueFd> connect_to(const addrinfo& address, Nanoseconds deadline) {
  UniqueFd fd(socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return from_errno("socket");
  if (connect(fd.get(), address.ai_addr, address.ai_addrlen) != 0) {
    if (errno != EINPROGRESS) return from_errno("connect");
    if (Result<void> ready = wait_for(fd.get(), POLLOUT, deadline, nullptr); !ready)
      return ready.error();
    int error = 0;
    socklen_t length = sizeof error;
    getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &length);
    if (error != 0) {
      errno = error;
      return from_errno("connect");
    }
  }
  const int yes = 1;
  setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  return fd;
}

}  // namespace

Result<Control> Control::connect(const std::string& host, std::uint16_t port, Nanoseconds timeout) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string service = std::to_string(port);
  const std::string where = host + " port " + service;
  if (int code = getaddrinfo(host.c_str(), service.c_str(), &wanted, &found)) {
    return Error{EHOSTUNREACH, "unknown host '" + host + "': " + gai_strerror(code)};
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, freeaddrinfo);
  const Nanoseconds deadline = now() + timeout;
  Error last{EHOSTUNREACH, "no address"};
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    Result<UniqueFd> fd = connect_to(*one, deadline);
    if (fd) return Control(*std::move(fd));
    last = fd.error();
  }
  return Error{last.code, "no server at " + where + " (" + last.message +
                              "); start one there: gdr perf --server --port " + service};
}

Error Control::unexpected(std::uint8_t kind) {
  return {EPROTO, "unexpected message " + std::to_string(kind)};
}

Result<void> Control::send_raw(std::uint8_t kind, const process::Bytes& bytes) {
  if (bytes.size() > kLargestMessage) return Error{EMSGSIZE, "message too long"};
  process::Bytes all(kHead + bytes.size());
  store_be32(all.data(), static_cast<std::uint32_t>(bytes.size()));
  all[4] = std::byte{kind};
  std::copy(bytes.begin(), bytes.end(), all.begin() + kHead);
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

Result<void> Control::wait_for(short events, Nanoseconds deadline) const {
  return perf::wait_for(fd_.get(), events, deadline, interrupted_);
}

bool Control::is_closed() const {
  pollfd entry{fd_.get(), POLLRDHUP, 0};
  return poll(&entry, 1, 0) > 0;
}

Result<void> Control::read_until(std::size_t bytes, Nanoseconds deadline) {
  arriving_.resize(bytes);
  while (arrived_ < bytes) {
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

Result<Received> Control::receive_any(Nanoseconds timeout) {
  const Nanoseconds deadline = now() + timeout;
  if (arrived_ < kHead) {
    if (Result<void> read = read_until(kHead, deadline); !read) return read.error();
  }
  const std::uint32_t length = load_be32(arriving_.data());
  if (length > most_) return Error{EPROTO, "the other side answered, but it is not gdr perf"};
  if (Result<void> read = read_until(kHead + length, deadline); !read) return read.error();
  const auto body = arriving_.begin() + kHead;
  Received received{static_cast<std::uint8_t>(arriving_[4]), process::Bytes(body, arriving_.end())};
  arrived_ = 0;
  return received;
}

}  // namespace gdr::perf
