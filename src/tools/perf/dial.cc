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

}  // namespace

Result<UniqueFd> dial(const std::string& host, std::uint16_t port, const std::string& server) {
  constexpr Nanoseconds kPatience = 5 * kSecond;
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string service = std::to_string(port);
  const std::string where = host + " port " + service;
  if (int code = getaddrinfo(host.c_str(), service.c_str(), &wanted, &found)) {
    return Error{EHOSTUNREACH, "unknown host '" + host + "': " + gai_strerror(code)};
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, freeaddrinfo);
  const Nanoseconds deadline = now() + kPatience;
  Error last{EHOSTUNREACH, "no address"};
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    Result<UniqueFd> fd = connect_to(*one, deadline);
    if (fd) return fd;
    last = fd.error();
  }
  return Error{last.code, "no server at " + where + " (" + last.message +
                              "); start one there: " + server + " --port " + service};
}

}  // namespace gdr::perf
