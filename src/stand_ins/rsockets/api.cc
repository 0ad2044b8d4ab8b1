// The functions of <rdma/rsocket.h>: errno values for negated ones, and nothing thrown.

#include <fcntl.h>
#include <rdma/rsocket.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <new>
#include <system_error>

#include "rsockets/datagram_socket.h"
#include "rsockets/descriptor_table.h"
#include "rsockets/event_poll.h"
#include "rsockets/poll.h"
#include "rsockets/repoll.h"
#include "rsockets/stream_socket.h"

namespace {

using gdr::rsockets::EventPoll;
using gdr::rsockets::Socket;

// The result of `work`, with its error in errno.
template <typename Work>
auto call(Work work) -> decltype(work()) {
  decltype(work()) result = -ENOMEM;
  try {
    result = work();
  } catch (const std::bad_alloc&) {
    result = -ENOMEM;
  } catch (const std::system_error&) {  // a mutex or condition variable without resources
    result = -EAGAIN;
  }
  if (result >= 0) return result;
  errno = static_cast<int>(-result);
  return -1;
}

template <typename Work>
auto with_socket(int descriptor, Work work) {
  using Returned = decltype(work(std::declval<Socket&>()));
  return call([&]() -> Returned {
    const auto socket = gdr::rsockets::find_socket(descriptor);
    return socket ? work(*socket) : -EBADF;
  });
}

std::span<const iovec> one_piece(const iovec& piece) { return {&piece, 1}; }

template <typename Kind>
int make(int domain, int type) {
  std::shared_ptr<Kind> made;
  if (const int error = Kind::create(domain, type, made)) return error;
  return gdr::rsockets::add_socket(std::move(made));
}

// As poll() counts; nothing: for ever.
std::optional<std::chrono::steady_clock::duration> limit_of(int milliseconds) {
  if (milliseconds < 0) return std::nullopt;
  return std::chrono::milliseconds(milliseconds);
}

bool acceptable(const iovec* pieces, std::size_t count) {
  return (pieces != nullptr || count == 0) && count <= IOV_MAX;
}

}  // namespace

extern "C" {

#pragma GCC visibility push(default)

int rsocket(int domain, int type, int protocol) {
  return call([&] {
    const int kind = type & ~(SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (domain != AF_INET && domain != AF_INET6) return -EAFNOSUPPORT;
    if (kind != SOCK_STREAM && kind != SOCK_DGRAM) return -ESOCKTNOSUPPORT;
    if (protocol != 0 && protocol != (kind == SOCK_STREAM ? IPPROTO_TCP : IPPROTO_UDP)) {
      return -EPROTONOSUPPORT;
    }
    if (kind == SOCK_STREAM) return make<gdr::rsockets::StreamSocket>(domain, type);
    return make<gdr::rsockets::DatagramSocket>(domain, type);
  });
}

int rbind(int socket, const struct sockaddr* addr, socklen_t addrlen) {
  return with_socket(socket, [&](Socket& found) { return found.bind(addr, addrlen); });
}

int rlisten(int socket, int backlog) {
  return with_socket(socket, [&](Socket& found) { return found.listen(backlog); });
}

int raccept(int socket, struct sockaddr* addr, socklen_t* addrlen) {
  return with_socket(socket, [&](Socket& found) {
    std::shared_ptr<Socket> accepted;
    if (const int error = found.accept(accepted)) return error;
    if (addr != nullptr && addrlen != nullptr) accepted->peer_name(addr, addrlen);
    return gdr::rsockets::add_socket(std::move(accepted));
  });
}

int rconnect(int socket, const struct sockaddr* addr, socklen_t addrlen) {
  return with_socket(socket, [&](Socket& found) { return found.connect(addr, addrlen); });
}

int rshutdown(int socket, int how) {
  return with_socket(socket, [&](Socket& found) { return found.shutdown(how); });
}

int rclose(int socket) {
  return call([&] {
    // Its number stays taken until the last one lets go of it.
    if (const std::shared_ptr<Socket> last = gdr::rsockets::remove_socket(socket)) {
      last->close();
      return 0;
    }
    return gdr::rsockets::remove_event_poll(socket) ? 0 : -EBADF;
  });
}

ssize_t rrecvfrom(int socket, void* buf, size_t len, int flags, struct sockaddr* src_addr,
                  socklen_t* addrlen) {
  const iovec piece{buf, len};
  return with_socket(socket, [&](Socket& found) {
    return found.receive(one_piece(piece), flags, src_addr, addrlen, nullptr);
  });
}

ssize_t rrecv(int socket, void* buf, size_t len, int flags) {
  return rrecvfrom(socket, buf, len, flags, nullptr, nullptr);
}

ssize_t rread(int socket, void* buf, size_t count) { return rrecv(socket, buf, count, 0); }

ssize_t rreadv(int socket, const struct iovec* iov, int iovcnt) {
  return with_socket(socket, [&](Socket& found) -> ssize_t {
    if (iovcnt < 0 || !acceptable(iov, static_cast<std::size_t>(iovcnt))) return -EINVAL;
    return found.receive({iov, static_cast<std::size_t>(iovcnt)}, 0, nullptr, nullptr, nullptr);
  });
}

ssize_t rrecvmsg(int socket, struct msghdr* msg, int flags) {
  return with_socket(socket, [&](Socket& found) -> ssize_t {
    if (!acceptable(msg->msg_iov, msg->msg_iovlen)) return -EMSGSIZE;
    msg->msg_controllen = 0;
    msg->msg_flags = 0;
    auto* from = static_cast<sockaddr*>(msg->msg_name);
    return found.receive({msg->msg_iov, msg->msg_iovlen}, flags, from, &msg->msg_namelen,
                         &msg->msg_flags);
  });
}

ssize_t rsendto(int socket, const void* buf, size_t len, int flags,
                const struct sockaddr* dest_addr, socklen_t addrlen) {
  const iovec piece{const_cast<void*>(buf), len};
  return with_socket(socket, [&](Socket& found) {
    return found.send(one_piece(piece), flags, dest_addr, addrlen);
  });
}

ssize_t rsend(int socket, const void* buf, size_t len, int flags) {
  return rsendto(socket, buf, len, flags, nullptr, 0);
}

ssize_t rwrite(int socket, const void* buf, size_t count) { return rsend(socket, buf, count, 0); }

ssize_t rwritev(int socket, const struct iovec* iov, int iovcnt) {
  return with_socket(socket, [&](Socket& found) -> ssize_t {
    if (iovcnt < 0 || !acceptable(iov, static_cast<std::size_t>(iovcnt))) return -EINVAL;
    return found.send({iov, static_cast<std::size_t>(iovcnt)}, 0, nullptr, 0);
  });
}

ssize_t rsendmsg(int socket, const struct msghdr* msg, int flags) {
  return with_socket(socket, [&](Socket& found) -> ssize_t {
    if (msg->msg_control != nullptr && msg->msg_controllen != 0) return -EOPNOTSUPP;
    if (!acceptable(msg->msg_iov, msg->msg_iovlen)) return -EMSGSIZE;
    const auto* to = static_cast<const sockaddr*>(msg->msg_name);
    return found.send({msg->msg_iov, msg->msg_iovlen}, flags, to,
                      to != nullptr ? msg->msg_namelen : 0);
  });
}

int rpoll(struct pollfd* fds, nfds_t nfds, int timeout) {
  return call([&] { return gdr::rsockets::poll_descriptors({fds, nfds}, limit_of(timeout)); });
}

int rselect(int nfds, fd_set* readfds, fd_set* writefds, fd_set* exceptfds,
            struct timeval* timeout) {
  return call([&] {
    return gdr::rsockets::select_descriptors(nfds, readfds, writefds, exceptfds, timeout);
  });
}

int rgetpeername(int socket, struct sockaddr* addr, socklen_t* addrlen) {
  return with_socket(socket, [&](Socket& found) { return found.peer_name(addr, addrlen); });
}

int rgetsockname(int socket, struct sockaddr* addr, socklen_t* addrlen) {
  return with_socket(socket, [&](Socket& found) { return found.name(addr, addrlen); });
}

int rsetsockopt(int socket, int level, int optname, const void* optval, socklen_t optlen) {
  return with_socket(
      socket, [&](Socket& found) { return found.set_option(level, optname, optval, optlen); });
}

int rgetsockopt(int socket, int level, int optname, void* optval, socklen_t* optlen) {
  return with_socket(socket,
                     [&](Socket& found) { return found.option(level, optname, optval, optlen); });
}

int rfcntl(int socket, int cmd, ...) {
  va_list arguments;
  va_start(arguments, cmd);
  const int argument = cmd == F_SETFL || cmd == F_SETFD ? va_arg(arguments, int) : 0;
  va_end(arguments);
  return with_socket(socket, [&](Socket& found) {
    switch (cmd) {
      case F_GETFL:
        return found.status_flags();
      case F_SETFL:
        found.set_status_flags(argument);
        return 0;
      case F_GETFD:
      case F_SETFD: {
        const int result = fcntl(found.descriptor(), cmd, argument);
        return result < 0 ? -errno : result;
      }
      default:
        return -EINVAL;
    }
  });
}

int repoll_create(int flags) {
  return call([&] {
    std::shared_ptr<EventPoll> made;
    if (const int error = EventPoll::create(flags, made)) return error;
    return gdr::rsockets::add_event_poll(std::move(made));
  });
}

int repoll_ctl(int epfd, int op, int fd, struct epoll_event* event) {
  return call([&] {
    const auto poll = gdr::rsockets::find_event_poll(epfd);
    if (!poll) return fcntl(epfd, F_GETFD) < 0 ? -EBADF : -EINVAL;
    return poll->control(op, fd, gdr::rsockets::find_socket(fd), event);
  });
}

int repoll_wait(int epfd, struct epoll_event* events, int maxevents, int timeout) {
  return call([&] {
    const auto poll = gdr::rsockets::find_event_poll(epfd);
    if (!poll) return fcntl(epfd, F_GETFD) < 0 ? -EBADF : -EINVAL;
    if (maxevents <= 0) return -EINVAL;
    return poll->wait({events, static_cast<std::size_t>(maxevents)}, limit_of(timeout));
  });
}

off_t riomap(int socket, void* buf, size_t len, int prot, int /*flags*/, off_t offset) {
  return with_socket(socket, [&](Socket& found) { return found.map(buf, len, prot, offset); });
}

int riounmap(int socket, void* buf, size_t len) {
  return with_socket(socket, [&](Socket& found) { return found.unmap(buf, len); });
}

size_t riowrite(int socket, const void* buf, size_t count, off_t offset, int flags) {
  return static_cast<size_t>(with_socket(socket, [&](Socket& found) {
    return found.write_mapped({static_cast<const std::uint8_t*>(buf), count}, offset, flags);
  }));
}

#pragma GCC visibility pop

}  // extern "C"
