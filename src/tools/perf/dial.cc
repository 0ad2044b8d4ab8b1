#include "perf/dial.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <memory>

#include "process/conversation.h"

namespace gdr::perf {
namespace {

Result<UniqueFd> connect_to(const addrinfo& address, Nanoseconds deadline) {
  UniqueFd fd(socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return from_errno("socket");
  if (connect(fd.get(), address.ai_addr, address.ai_addrlen) != 0) {
    if (errno != EINPROGRESS) return from_errno("connect");
    if (Result<void> ready = process::wait_for(fd.get(), POLLOUT, deadline); !ready) {
      return ready.error();
    }
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

using Addresses = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;

Result<Addresses> look_up(const std::string& host, std::uint16_t port) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (int code = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found)) {
    return Error{EHOSTUNREACH, "unknown host '" + host + "': " + gai_strerror(code)};
  }
  return Addresses(found, freeaddrinfo);
}

// The first of them that answers; else the last one's error.
Result<UniqueFd> connect_to_any(const Addresses& addresses, Nanoseconds deadline) {
  Error last{EHOSTUNREACH, "no address"};
  for (const addrinfo* one = addresses.get(); one != nullptr; one = one->ai_next) {
    Result<UniqueFd> fd = connect_to(*one, deadline);
    if (fd) return fd;
    last = fd.error();
  }
  return last;
}

}  // namespace

Result<UniqueFd> connect_within(const std::string& host, std::uint16_t port, Nanoseconds deadline) {
  const Result<Addresses> addresses = look_up(host, port);
  if (!addresses) return addresses.error();
  return connect_to_any(*addresses, deadline);
}

Result<UniqueFd> dial(const std::string& host, std::uint16_t port, const std::string& server) {
  constexpr Nanoseconds kPatience = 5 * kSecond;
  const Result<Addresses> addresses = look_up(host, port);
  if (!addresses) return addresses.error();
  Result<UniqueFd> fd = connect_to_any(*addresses, now() + kPatience);
  if (fd) return fd;
  const std::string service = std::to_string(port);
  return Error{fd.error().code, "no server at " + host + " port " + service + " (" +
                                    fd.error().message + "); start one there: " + server +
                                    " --port " + service};
}

}  // namespace gdr::perf
