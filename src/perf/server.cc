// The server: one client after another, each by a session of its own.
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <memory>

#include "perf/choice.h"
#include "perf/run.h"
#include "perf/session.h"

namespace gdr::perf {
namespace {

constexpr int kLook = 200;  // ms
constexpr int kBacklog = 16;

Result<UniqueFd> listen_on(const Options& options) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_PASSIVE;
  wanted.ai_family = options.listen_address.empty() ? AF_INET6 : AF_UNSPEC;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(options.port);
  const char* address = options.listen_address.empty() ? nullptr : options.listen_address.c_str();
  if (int code = getaddrinfo(address, port.c_str(), &wanted, &found)) {
    return Error{EINVAL, "--listen " + options.listen_address + ": " + gai_strerror(code)};
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, freeaddrinfo);
  UniqueFd fd(socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) return from_errno("socket");
  const int yes = 1, no = 0;
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  // IPv4 as well.
  if (found->ai_family == AF_INET6) {
    setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
  }
  if (bind(fd.get(), found->ai_addr, found->ai_addrlen) != 0 || listen(fd.get(), kBacklog) != 0) {
    const Error error = from_errno("listening on port " + port);
    return Error{error.code, error.message + "; another one: --port PORT"};
  }
  return fd;
}

std::string name_of(const sockaddr_storage& address, socklen_t length) {
  char host[NI_MAXHOST] = "";
  getnameinfo(reinterpret_cast<const sockaddr*>(&address), length, host, sizeof host, nullptr, 0,
              NI_NUMERICHOST);
  std::string text = host;
  if (text.rfind("::ffff:", 0) == 0) text.erase(0, 7);  // IPv4 in IPv6's form
  return text;
}

// A client whose host has died is noticed, too.
void keep_alive(int fd) {
  const int yes = 1, idle = 5, interval = 2, count = 3;
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

}  // namespace

Result<void> serve(const Options& options, const std::function<void(const std::string&)>& say,
                   const std::atomic<bool>& interrupted) {
  Result<Choice> choice = choose(options, Role::kServer);
  if (!choice) return choice.error();
  Result<Ports> ports = open_ports(choice->names);
  if (!ports) return ports.error();
  Result<UniqueFd> listening = listen_on(options);
  if (!listening) return listening.error();
  const Description told = describe(*choice, *ports, options);
  const Side& side = told.side;
  std::string names;
  for (const Port& port : side.ports) {
    names += (names.empty() ? "" : ", ") + port.nic + " port " + std::to_string(port.number);
  }
  say("serving " + names + (side.soft_nic ? " (STAND-IN)" : "") + " on TCP port " +
      std::to_string(options.port) + "; on the other host: gdr perf " + side.host +
      (options.port == kPort ? "" : " --port " + std::to_string(options.port)));
  while (!interrupted.load()) {
    pollfd entry{listening->get(), POLLIN, 0};
    if (poll(&entry, 1, kLook) <= 0) continue;
    sockaddr_storage address{};
    socklen_t length = sizeof address;
    UniqueFd fd(
        accept4(listening->get(), reinterpret_cast<sockaddr*>(&address), &length, SOCK_CLOEXEC));
    if (!fd) continue;
    keep_alive(fd.get());
    Control control(std::move(fd));
    Session session(control, *ports, told, interrupted, options.processors);
    const Result<void> ended = session.serve();
    say(name_of(address, length) + ": " + std::to_string(session.rows()) + " rows" +
        (ended ? "" : "; ended by: " + ended.error().message));
  }
  return {};
}

}  // namespace gdr::perf
