// How a program's sockets come about: socket, bind, listen, accept, connect, and what is asked
// about them.
#include <netinet/in.h>
#include <rdma/rsocket.h>

#include <cerrno>

#include "rspreload/fork_handshake.h"
#include "rspreload/inside.h"
#include "rspreload/options.h"
#include "rspreload/real.h"
#include "rspreload/route.h"
#include "rspreload/settings.h"

namespace gdr::rspreload {
namespace {

// How long a connect() that must not wait does wait, to see whether there is RDMA on the way. A
// listener on the same network answers within it.
constexpr int kTrialMilliseconds = 250;

int new_rsocket(int domain, int type, int protocol) {
  const Inside inside;
  return rsocket(domain, type | SOCK_CLOEXEC, protocol);
}

// Behind the front; a descriptor whose number is too high for the table stays an ordinary socket.
void put_rsocket(int front, int domain, int type, int protocol) {
  const int kind = type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (kind == SOCK_STREAM && settings().connects_in_child) {
    put(front, make_connection(Stage::kUnconnected, -1, kind));
    return;
  }
  const int rsocket = new_rsocket(domain, type, protocol);
  if (rsocket < 0) return;
  set_sizes(rsocket);
  Held made = make_connection(Stage::kRsocket, rsocket, kind);
  if (!made) {
    rclose(rsocket);
  } else {
    put(front, std::move(made));
  }
}

int accept_rsocket(const Route& listener, sockaddr* address, socklen_t* length, int flags) {
  int domain = AF_INET;
  socklen_t size = sizeof domain;
  rgetsockopt(listener.rsocket(), SOL_SOCKET, SO_DOMAIN, &domain, &size);
  // First, because a connection that was accepted cannot be put back.
  const int front = real().socket(domain, SOCK_STREAM | flags, 0);
  if (front < 0) return -1;
  Held made = make_connection(Stage::kRsocket, -1, SOCK_STREAM);
  const int accepted = made ? raccept(listener.rsocket(), address, length) : -1;
  const int error = made ? errno : ENOMEM;
  if (accepted >= 0) {
    rfcntl(accepted, F_SETFL, (flags & SOCK_NONBLOCK) != 0 ? O_NONBLOCK : 0);
    made->rsocket.store(accepted);
    if (put(front, std::move(made))) return front;
    errno = EMFILE;
  } else {
    errno = error;
  }
  const int kept = errno;
  real().close(front);
  errno = kept;
  return -1;
}

int accept_any(int fd, sockaddr* address, socklen_t* length, int flags) {
  if ((flags & ~(SOCK_NONBLOCK | SOCK_CLOEXEC)) != 0) {
    errno = EINVAL;
    return -1;
  }
  const Route to(fd, Touch::kState);
  if (to.is_rsocket()) return accept_rsocket(to, address, length, flags);
  const int accepted = real().accept4(fd, address, length, flags);
  if (accepted >= 0 && to.held() && to.held()->stage.load() == Stage::kListening) {
    put(accepted, make_connection(Stage::kPassive, -1, SOCK_STREAM));
  }
  return accepted;
}

// Waits a while for a connection that is on its way. 0, or an errno value.
int try_a_while(int rsocket) {
  pollfd one{rsocket, POLLOUT, 0};
  if (rpoll(&one, 1, kTrialMilliseconds) != 1) return EINPROGRESS;
  int error = 0;
  socklen_t length = sizeof error;
  if (rgetsockopt(rsocket, SOL_SOCKET, SO_ERROR, &error, &length) != 0) return errno;
  return error;
}

bool is_final(int error) {
  return error == 0 || error == EINPROGRESS || error == EALREADY || error == EISCONN ||
         error == EINTR;
}

int connect_rsocket(const Route& to, int fd, const sockaddr* address, socklen_t length) {
  int error = rconnect(to.rsocket(), address, length) == 0 ? 0 : errno;
  if (error == EINPROGRESS && to.is_stream()) error = try_a_while(to.rsocket());
  if (is_final(error)) {
    errno = error;
    return error == 0 ? 0 : -1;
  }
  // There is no RDMA on the way, or nobody listens by it.
  if (!become_plain(*to.held(), fd)) return -1;
  return real().connect(fd, address, length);
}

bool joins_group(int level, int option) {
  return (level == IPPROTO_IP &&
          (option == IP_ADD_MEMBERSHIP || option == IP_ADD_SOURCE_MEMBERSHIP ||
           option == MCAST_JOIN_GROUP || option == MCAST_JOIN_SOURCE_GROUP)) ||
         (level == IPPROTO_IPV6 && (option == IPV6_JOIN_GROUP || option == MCAST_JOIN_GROUP ||
                                    option == MCAST_JOIN_SOURCE_GROUP));
}

}  // namespace
}  // namespace gdr::rspreload

using namespace gdr::rspreload;  // NOLINT: this file is the C interface of the namespace

GDR_SHOWN int socket(int domain, int type, int protocol) noexcept {
  const int front = real().socket(domain, type, protocol);
  if (front < 0 || Inside::is_here()) return front;
  const Held stale = take(front);  // closed past this library
  if (settings().config.takes(program_invocation_short_name, domain, type, protocol)) {
    put_rsocket(front, domain, type, protocol);
  }
  return front;
}

GDR_SHOWN int bind(int fd, const sockaddr* address, socklen_t length) noexcept {
  const Route to(fd, Touch::kState);
  if (!to.is_rsocket()) return real().bind(fd, address, length);
  if (rbind(to.rsocket(), address, length) == 0) {
    to.held()->is_bound.store(true);
    return 0;
  }
  // An address that no NIC has can be served without one only.
  if (errno != ENODEV && errno != EADDRNOTAVAIL) return -1;
  return become_plain(*to.held(), fd) ? real().bind(fd, address, length) : -1;
}

GDR_SHOWN int listen(int fd, int backlog) noexcept {
  const Route to(fd, Touch::kState);
  if (to.is_rsocket()) return rlisten(to.rsocket(), backlog);
  const int result = real().listen(fd, backlog);
  if (result == 0 && to.held() && to.held()->stage.load() == Stage::kUnconnected) {
    to.held()->stage.store(Stage::kListening);
  }
  return result;
}

GDR_SHOWN int accept(int fd, sockaddr* address, socklen_t* length) {
  return accept_any(fd, address, length, 0);
}

GDR_SHOWN int accept4(int fd, sockaddr* address, socklen_t* length, int flags) {
  return accept_any(fd, address, length, flags);
}

GDR_SHOWN int connect(int fd, const sockaddr* address, socklen_t length) {
  const Route to(fd, Touch::kState);
  if (to.is_rsocket()) return connect_rsocket(to, fd, address, length);
  const int result = real().connect(fd, address, length);
  if ((result == 0 || errno == EINPROGRESS) && to.held() &&
      to.held()->stage.load() == Stage::kUnconnected) {
    to.held()->stage.store(Stage::kActive);
  }
  return result;
}

GDR_SHOWN int shutdown(int fd, int how) noexcept {
  const Route to(fd, Touch::kData);
  if (to.failed()) return -1;
  return to.is_rsocket() ? rshutdown(to.rsocket(), how) : real().shutdown(fd, how);
}

GDR_SHOWN int getsockname(int fd, sockaddr* address, socklen_t* length) noexcept {
  const Route to(fd, Touch::kState);
  return to.is_rsocket() ? rgetsockname(to.rsocket(), address, length)
                         : real().getsockname(fd, address, length);
}

GDR_SHOWN int getpeername(int fd, sockaddr* address, socklen_t* length) noexcept {
  const Route to(fd, Touch::kState);
  return to.is_rsocket() ? rgetpeername(to.rsocket(), address, length)
                         : real().getpeername(fd, address, length);
}

GDR_SHOWN int setsockopt(int fd, int level, int option, const void* value,
                         socklen_t length) noexcept {
  const Route to(fd, Touch::kState);
  if (!to.is_rsocket()) return real().setsockopt(fd, level, option, value, length);
  // Groups have no RDMA. Before it is bound, nothing has come that would be lost.
  if (joins_group(level, option)) {
    if (!become_plain(*to.held(), fd)) return -1;
    return real().setsockopt(fd, level, option, value, length);
  }
  if (rsetsockopt(to.rsocket(), level, option, value, length) != 0) return -1;
  // In case that it becomes plain; an option of RDMA alone says nothing to it.
  const int before = errno;
  if (level != SOL_RDMA) real().setsockopt(fd, level, option, value, length);
  errno = before;
  return 0;
}

GDR_SHOWN int getsockopt(int fd, int level, int option, void* value, socklen_t* length) noexcept {
  const Route to(fd, Touch::kState);
  if (!to.is_rsocket()) return real().getsockopt(fd, level, option, value, length);
  if (rgetsockopt(to.rsocket(), level, option, value, length) == 0) return 0;
  // What cannot be set on an rsocket has the value of any new socket.
  return errno == ENOPROTOOPT ? real().getsockopt(fd, level, option, value, length) : -1;
}
