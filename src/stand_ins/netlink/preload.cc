// libgdr-netlink.so: a program's NETLINK_RDMA sockets, answered for the software NIC. See
// README.md.
#include <linux/netlink.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/next_function.h"
#include "netlink/answer.h"

namespace gdr::netlink {
namespace {

constexpr std::size_t kMostRequest = 4096;

// In front of /sys/class/infiniband. Null: `gdr run` shows no devices. "/": the machine's own
// place, over which they are mounted.
const char* tree_root() {
  const char* value = std::getenv("GDR_PRESENCE_ROOT");
  if (value == nullptr || value[0] != '/') return nullptr;
  return value[1] == '\0' ? "" : value;
}

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

// Nobody in the kernel listens to this protocol: what goes there is meant for us.
bool is_ours(int fd, const void* address, socklen_t length) {
  if (!any_made.load(std::memory_order_relaxed)) return false;
  if (option(fd, SO_DOMAIN) != AF_NETLINK || option(fd, SO_PROTOCOL) != NETLINK_USERSOCK) {
    return false;
  }
  if (address == nullptr || length < sizeof(sockaddr_nl)) return address == nullptr;
  sockaddr_nl to{};
  std::memcpy(&to, address, sizeof to);
  return to.nl_family == AF_NETLINK && to.nl_pid == 0 && to.nl_groups == 0;
}

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
  GDR_NEXT(decltype(::sendto), sendto);
  const auto& answerer = *static_cast<const Answerer*>(context);
  sockaddr_nl to{};
  to.nl_family = AF_NETLINK;
  to.nl_pid = answerer.port_id;
  if (next_sendto == nullptr) return;
  next_sendto(answerer.fd, datagram, length, MSG_DONTWAIT | MSG_NOSIGNAL,
              reinterpret_cast<const sockaddr*>(&to), sizeof to);
}

ssize_t take(int fd, const void* request, std::size_t length) {
  GDR_NEXT(decltype(::socket), socket);
  Answerer answerer;
  if (!port_of(fd, answerer.port_id) || next_socket == nullptr) return -1;
  answerer.fd = next_socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_USERSOCK);
  if (answerer.fd < 0) return -1;
  const char* root = tree_root();
  answer(request, length, root != nullptr ? root : "",
         {answerer.port_id, &send_datagram, &answerer});
  close(answerer.fd);
  return static_cast<ssize_t>(length);
}

}  // namespace
}  // namespace gdr::netlink

using namespace gdr::netlink;  // NOLINT: this file is the C interface of the namespace

GDR_SHOWN int socket(int domain, int type, int protocol) noexcept {
  GDR_NEXT(decltype(::socket), socket);
  if (next_socket == nullptr) {
    errno = ENOSYS;
    return -1;
  }
  const bool for_devices = domain == AF_NETLINK && protocol == NETLINK_RDMA;
  if (!for_devices || tree_root() == nullptr) return next_socket(domain, type, protocol);
  any_made.store(true, std::memory_order_relaxed);
  return next_socket(domain, type, NETLINK_USERSOCK);
}

GDR_SHOWN ssize_t sendto(int fd, const void* bytes, std::size_t length, int flags,
                         const sockaddr* address, socklen_t address_length) {
  GDR_NEXT(decltype(::sendto), sendto);
  if (next_sendto == nullptr) {
    errno = ENOSYS;
    return -1;
  }
  if (bytes != nullptr && is_ours(fd, address, address_length)) {
    return take(fd, bytes, length);
  }
  return next_sendto(fd, bytes, length, flags, address, address_length);
}

GDR_SHOWN ssize_t send(int fd, const void* bytes, std::size_t length, int flags) {
  GDR_NEXT(decltype(::send), send);
  if (next_send == nullptr) {
    errno = ENOSYS;
    return -1;
  }
  if (bytes != nullptr && is_ours(fd, nullptr, 0)) {
    return take(fd, bytes, length);
  }
  return next_send(fd, bytes, length, flags);
}

GDR_SHOWN ssize_t sendmsg(int fd, const msghdr* message, int flags) {
  GDR_NEXT(decltype(::sendmsg), sendmsg);
  if (next_sendmsg == nullptr) {
    errno = ENOSYS;
    return -1;
  }
  if (message == nullptr || !is_ours(fd, message->msg_name, message->msg_namelen)) {
    return next_sendmsg(fd, message, flags);
  }
  alignas(nlmsghdr) char request[kMostRequest];
  std::size_t length = 0;
  for (std::size_t i = 0; i < message->msg_iovlen; ++i) {
    const iovec& part = message->msg_iov[i];
    if (part.iov_len > sizeof request - length) {
      errno = EMSGSIZE;
      return -1;
    }
    if (part.iov_len != 0) std::memcpy(request + length, part.iov_base, part.iov_len);
    length += part.iov_len;
  }
  return take(fd, request, length);
}
