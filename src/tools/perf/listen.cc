#include "perf/listen.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <memory>

namespace gdr::perf {
namespace {

constexpr int kBacklog = 64;

std::string name_of(const sockaddr* address, socklen_t length) {
  char host[NI_MAXHOST] = "";
  getnameinfo(address, length, host, sizeof host, nullptr, 0, NI_NUMERICHOST);
  std::string text = host;
  if (text.rfind("::ffff:", 0) == 0) text.erase(0, 7);  // IPv4 in IPv6's form
  return text;
}

bool is_loopback(const sockaddr* address) {
  if (address->sa_family == AF_INET) {
    return (ntohl(reinterpret_cast<const sockaddr_in*>(address)->sin_addr.s_addr) >> 24) == 127;
  }
  return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
}

Result<UniqueFd> listen_at(const addrinfo& at, bool both_families) {
  UniqueFd fd(socket(at.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return from_errno("socket");
  const int yes = 1, only = both_families ? 0 : 1;
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (at.ai_family == AF_INET6) setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof only);
  if (bind(fd.get(), at.ai_addr, at.ai_addrlen) != 0) return from_errno("bind");
  if (listen(fd.get(), kBacklog) != 0) return from_errno("listen");
  return fd;
}

}  // namespace

void keep_alive(int fd) {
  const int yes = 1, idle = 5, interval = 2, count = 3;
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

std::string text_of(const Invitation& invitation, const Listening& listening) {
  const std::string number = std::to_string(invitation.port);
  const std::string port = invitation.port == invitation.usual_port ? "" : " --port " + number;
  std::string text =
      "serving " + invitation.serves + " on TCP port " + number + " of " + listening.where();
  if (!listening.is_open()) {
    return text + ", for this host only (--listen any serves other hosts); client: " +
           invitation.command.text() + " localhost" + port;
  }
  text += "; client, on the other host: " +
          text::Command("{} {}", invitation.command, invitation.host).text() + port;
  if (invitation.has_secret) return text + " --secret FILE";
  return text + "; anybody who reaches this port can use the server (--secret FILE prevents it)";
}

Result<Listening> listen_on(const std::string& address, std::uint16_t port) {
  const bool any = address == "any";
  // With "any" one IPv6 socket serves both families; a host without IPv6 has only the other one.
  const std::vector<std::string> names = any ? std::vector<std::string>{"::", "0.0.0.0"}
                                         : address.empty()
                                             ? std::vector<std::string>{"127.0.0.1", "::1"}
                                             : std::vector<std::string>{address};
  Listening listening;
  Error refused{EINVAL, ""};
  for (const std::string& name : names) {
    if (any && !listening.sockets_.empty()) break;
    addrinfo wanted{};
    wanted.ai_socktype = SOCK_STREAM;
    wanted.ai_flags = AI_PASSIVE;
    addrinfo* found = nullptr;
    if (int code = getaddrinfo(name.c_str(), std::to_string(port).c_str(), &wanted, &found)) {
      return Error{EINVAL, "--listen " + name + ": " + gai_strerror(code)};
    }
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, freeaddrinfo);
    Result<UniqueFd> fd = listen_at(*found, any);
    if (!fd) {
      // Some hosts have no IPv6; a port that is taken is another matter.
      if (listening.sockets_.empty() || fd.error().code == EADDRINUSE) refused = fd.error();
      if (fd.error().code == EADDRINUSE) listening.sockets_.clear();
      if (fd.error().code == EADDRINUSE) break;
      continue;
    }
    listening.open_ |= !is_loopback(found->ai_addr);
    listening.where_ += (listening.where_.empty() ? "" : " and ") +
                        (any ? "all addresses" : name_of(found->ai_addr, found->ai_addrlen));
    listening.sockets_.push_back(*std::move(fd));
  }
  if (!listening.sockets_.empty()) return listening;
  const std::string number = std::to_string(port);
  if (refused.code == EADDRINUSE) {
    return Error{EADDRINUSE, "port " + number + " is in use (" + refused.message +
                                 "); choose another one with --port PORT"};
  }
  return Error{refused.code, "listening on port " + number + " of " +
                                 (address.empty() ? "this host" : address) + ": " +
                                 refused.message};
}

Result<Visitor> Listening::accept(Nanoseconds timeout) const {
  std::vector<pollfd> entries;
  for (const UniqueFd& socket : sockets_) entries.push_back({socket.get(), POLLIN, 0});
  const int milliseconds = static_cast<int>(timeout / kMillisecond);
  if (poll(entries.data(), entries.size(), milliseconds) <= 0) {
    return Error{ETIMEDOUT, "no client connected"};
  }
  const auto ready = std::ranges::find_if(
      entries, [](const pollfd& entry) { return (entry.revents & POLLIN) != 0; });
  if (ready == entries.end()) return Error{EIO, "the port is closed"};
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  UniqueFd fd(accept4(ready->fd, generic, &length, SOCK_CLOEXEC));
  if (!fd && errno == EAGAIN) return Error{ETIMEDOUT, "no client connected"};
  if (!fd) return from_errno("accept");
  keep_alive(fd.get());
  return Visitor{std::move(fd), name_of(generic, length)};
}

}  // namespace gdr::perf
