#include "presence/netlink/program_socket.h"

#include <linux/netlink.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "base/system_calls.h"
#include "presence/netlink/answer.h"
#include "presence/redirect.h"

namespace gdr::presence::netlink {
namespace {

constexpr std::size_t kMostRequest = 4096;

int option(int fd, int name) {
  const int before = errno;
  int value = -1;
  socklen_t length = sizeof value;
  if (getsockopt(fd, SOL_SOCKET, name, &value, &length) != 0) value = -1;
  errno = before;
  return value;
}

// A program without such a socket pays one look at this for each send.
std::atomic<bool> any_made{false};

// The socket's own port, which the kernel would give it when it first sends.
bool port_of(int fd, std::uint32_t& port_id) {
  sockaddr_nl own{};
  socklen_t length = sizeof own;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&own), &length) != 0) return false;
  if (own.nl_pid == 0) {
    own = {};
    own.nl_family = AF_NETLINK;
    length = sizeof own;
    if (bind(fd, reinterpret_cast<const sockaddr*>(&own), sizeof own) != 0 ||
        getsockname(fd, reinterpret_cast<sockaddr*>(&own), &length) != 0) {
      return false;
    }
  }
  port_id = own.nl_pid;
  return true;
}

struct Answerer {
  int fd = -1;
  std::uint32_t port_id = 0;
};

// To a socket that has no more room the kernel, too, loses answers.
void send_datagram(void* context, const void* datagram, std::size_t length) {
  const auto& answerer = *static_cast<const Answerer*>(context);
  sockaddr_nl to{};
  to.nl_family = AF_NETLINK;
  to.nl_pid = answerer.port_id;
  syscall(SYS_sendto, answerer.fd, datagram, length, MSG_DONTWAIT | MSG_NOSIGNAL, &to, sizeof to);
}

}  // namespace

int shown_protocol(int domain, int protocol) {
  if (domain != AF_NETLINK || protocol != NETLINK_RDMA || !devices_are_shown()) return protocol;
  any_made.store(true, std::memory_order_relaxed);
  return NETLINK_USERSOCK;
}

// Nobody in the kernel listens to this protocol: what goes there is meant for us.
bool is_request(int fd, const void* address, socklen_t length) {
  if (!any_made.load(std::memory_order_relaxed)) return false;
  if (option(fd, SO_DOMAIN) != AF_NETLINK || option(fd, SO_PROTOCOL) != NETLINK_USERSOCK) {
    return false;
  }
  if (address == nullptr || length < sizeof(sockaddr_nl)) return address == nullptr;
  sockaddr_nl to{};
  std::memcpy(&to, address, sizeof to);
  return to.nl_family == AF_NETLINK && to.nl_pid == 0 && to.nl_groups == 0;
}

ssize_t take_request(int fd, const void* bytes, std::size_t length) {
  Answerer answerer;
  if (!port_of(fd, answerer.port_id)) return -1;
  answerer.fd = system_socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_USERSOCK);
  if (answerer.fd < 0) return -1;
  answer(bytes, length, root().data(), {answerer.port_id, &send_datagram, &answerer});
  close(answerer.fd);
  return static_cast<ssize_t>(length);
}

ssize_t take_request(int fd, const msghdr& message) {
  alignas(nlmsghdr) char request[kMostRequest];
  std::size_t length = 0;
  for (std::size_t i = 0; i < message.msg_iovlen; ++i) {
    const iovec& part = message.msg_iov[i];
    if (part.iov_len > sizeof request - length) {
      errno = EMSGSIZE;
      return -1;
    }
    if (part.iov_len != 0) std::memcpy(request + length, part.iov_base, part.iov_len);
    length += part.iov_len;
  }
  return take_request(fd, request, length);
}

}  // namespace gdr::presence::netlink
