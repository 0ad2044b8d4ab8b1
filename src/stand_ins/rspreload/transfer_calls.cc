// A program's bytes: recv and send in all their forms, read and write, and what the checked ones
// of _FORTIFY_SOURCE become.
#include <netinet/in.h>
#include <rdma/rsocket.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>

#include "rspreload/real.h"
#include "rspreload/route.h"

// The C library's: says that a buffer is too small, and ends the program.
extern "C" [[noreturn]] void __chk_fail() noexcept;

namespace gdr::rspreload {
namespace {

// A stream that the peer has ended sends a signal to who writes on, unless it asked for none.
ssize_t sent(const Route& to, ssize_t result, int flags) {
  if (result < 0 && errno == EPIPE && (flags & MSG_NOSIGNAL) == 0 && to.is_stream()) {
    raise(SIGPIPE);
    errno = EPIPE;
  }
  return result;
}

bool is_group(const sockaddr* address) {
  if (address == nullptr) return false;
  if (address->sa_family == AF_INET6) {
    return IN6_IS_ADDR_MULTICAST(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr) != 0;
  }
  const auto number = ntohl(reinterpret_cast<const sockaddr_in*>(address)->sin_addr.s_addr);
  return IN_MULTICAST(number) || number == INADDR_BROADCAST;
}

// A datagram for whom no NIC leads to, or for many, goes by UDP, and all later ones with it.
bool goes_by_udp(const Route& to, int fd, ssize_t result, const sockaddr* address) {
  if (result >= 0 || to.is_stream()) return false;
  if (errno != ENODEV && !(errno == EOPNOTSUPP && is_group(address))) return false;
  return become_plain(*to.held(), fd);
}

const sockaddr* address_of(const msghdr* message) {
  return static_cast<const sockaddr*>(message->msg_name);
}

ssize_t send_to(int fd, const void* bytes, std::size_t length, int flags, const sockaddr* address,
                socklen_t address_length) {
  const Route to(fd, Touch::kData, flags);
  if (to.failed()) return -1;
  if (!to.is_rsocket()) return real().sendto(fd, bytes, length, flags, address, address_length);
  const ssize_t result = rsendto(to.rsocket(), bytes, length, flags, address, address_length);
  return goes_by_udp(to, fd, result, address)
             ? real().sendto(fd, bytes, length, flags, address, address_length)
             : sent(to, result, flags);
}

ssize_t send_message(int fd, const msghdr* message, int flags) {
  const Route to(fd, Touch::kData, flags);
  if (to.failed()) return -1;
  if (!to.is_rsocket()) return real().sendmsg(fd, message, flags);
  const ssize_t result = rsendmsg(to.rsocket(), message, flags);
  return goes_by_udp(to, fd, result, address_of(message)) ? real().sendmsg(fd, message, flags)
                                                          : sent(to, result, flags);
}

bool has_time_left(const timespec* limit, const timespec& begin) {
  if (limit == nullptr) return true;
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const auto passed =
      std::int64_t{now.tv_sec - begin.tv_sec} * 1'000'000'000 + now.tv_nsec - begin.tv_nsec;
  return passed < std::int64_t{limit->tv_sec} * 1'000'000'000 + limit->tv_nsec;
}

// As recvmmsg(2) has it: an error counts if nothing came before it, and the limit is looked at
// behind each datagram.
int receive_many(const Route& to, mmsghdr* messages, unsigned count, int flags,
                 const timespec* limit) {
  timespec begin{};
  clock_gettime(CLOCK_MONOTONIC, &begin);
  const bool waits_once = (flags & MSG_WAITFORONE) != 0;
  flags &= ~MSG_WAITFORONE;
  unsigned done = 0;
  while (done < count && (done == 0 || has_time_left(limit, begin))) {
    const int now = waits_once && done > 0 ? flags | MSG_DONTWAIT : flags;
    const ssize_t length = rrecvmsg(to.rsocket(), &messages[done].msg_hdr, now);
    if (length < 0) break;
    messages[done].msg_len = static_cast<unsigned>(length);
    ++done;
  }
  return done == 0 && count > 0 ? -1 : static_cast<int>(done);
}

}  // namespace
}  // namespace gdr::rspreload

using namespace gdr::rspreload;  // NOLINT: this file is the C interface of the namespace

GDR_SHOWN ssize_t recv(int fd, void* bytes, std::size_t length, int flags) {
  const Route to(fd, Touch::kData, flags);
  if (to.failed()) return -1;
  return to.is_rsocket() ? rrecv(to.rsocket(), bytes, length, flags)
                         : real().recv(fd, bytes, length, flags);
}

GDR_SHOWN ssize_t recvfrom(int fd, void* bytes, std::size_t length, int flags, sockaddr* address,
                           socklen_t* address_length) {
  const Route to(fd, Touch::kData, flags);
  if (to.failed()) return -1;
  return to.is_rsocket() ? rrecvfrom(to.rsocket(), bytes, length, flags, address, address_length)
                         : real().recvfrom(fd, bytes, length, flags, address, address_length);
}

GDR_SHOWN ssize_t recvmsg(int fd, msghdr* message, int flags) {
  const Route to(fd, Touch::kData, flags);
  if (to.failed()) return -1;
  return to.is_rsocket() ? rrecvmsg(to.rsocket(), message, flags)
                         : real().recvmsg(fd, message, flags);
}

GDR_SHOWN int recvmmsg(int fd, mmsghdr* messages, unsigned count, int flags, timespec* limit) {
  const Route to(fd, Touch::kData, flags);
  if (to.failed()) return -1;
  return to.is_rsocket() ? receive_many(to, messages, count, flags, limit)
                         : real().recvmmsg(fd, messages, count, flags, limit);
}

GDR_SHOWN ssize_t read(int fd, void* bytes, std::size_t length) {
  const Route to(fd, Touch::kData);
  if (to.failed()) return -1;
  return to.is_rsocket() ? rread(to.rsocket(), bytes, length) : real().read(fd, bytes, length);
}

GDR_SHOWN ssize_t readv(int fd, const iovec* pieces, int count) {
  const Route to(fd, Touch::kData);
  if (to.failed()) return -1;
  return to.is_rsocket() ? rreadv(to.rsocket(), pieces, count) : real().readv(fd, pieces, count);
}

GDR_SHOWN ssize_t send(int fd, const void* bytes, std::size_t length, int flags) {
  return send_to(fd, bytes, length, flags, nullptr, 0);
}

GDR_SHOWN ssize_t sendto(int fd, const void* bytes, std::size_t length, int flags,
                         const sockaddr* address, socklen_t address_length) {
  return send_to(fd, bytes, length, flags, address, address_length);
}

GDR_SHOWN ssize_t sendmsg(int fd, const msghdr* message, int flags) {
  return send_message(fd, message, flags);
}

GDR_SHOWN int sendmmsg(int fd, mmsghdr* messages, unsigned count, int flags) {
  if (!find(fd)) return real().sendmmsg(fd, messages, count, flags);
  unsigned done = 0;
  for (; done < count; ++done) {
    const ssize_t length = send_message(fd, &messages[done].msg_hdr, flags);
    if (length < 0) break;
    messages[done].msg_len = static_cast<unsigned>(length);
  }
  return done == 0 && count > 0 ? -1 : static_cast<int>(done);
}

GDR_SHOWN ssize_t write(int fd, const void* bytes, std::size_t length) {
  const Route to(fd, Touch::kData);
  if (to.failed()) return -1;
  return to.is_rsocket() ? sent(to, rwrite(to.rsocket(), bytes, length), 0)
                         : real().write(fd, bytes, length);
}

GDR_SHOWN ssize_t writev(int fd, const iovec* pieces, int count) {
  const Route to(fd, Touch::kData);
  if (to.failed()) return -1;
  return to.is_rsocket() ? sent(to, rwritev(to.rsocket(), pieces, count), 0)
                         : real().writev(fd, pieces, count);
}

// `room`: what the compiler knows the buffer to have.
GDR_SHOWN ssize_t __read_chk(int fd, void* bytes, std::size_t length, std::size_t room) {
  if (length > room) __chk_fail();
  return read(fd, bytes, length);
}

GDR_SHOWN ssize_t __recv_chk(int fd, void* bytes, std::size_t length, std::size_t room, int flags) {
  if (length > room) __chk_fail();
  return recv(fd, bytes, length, flags);
}

GDR_SHOWN ssize_t __recvfrom_chk(int fd, void* bytes, std::size_t length, std::size_t room,
                                 int flags, sockaddr* address, socklen_t* address_length) {
  if (length > room) __chk_fail();
  return recvfrom(fd, bytes, length, flags, address, address_length);
}
