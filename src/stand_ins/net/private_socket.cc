#include "net/private_socket.h"

#include <linux/filter.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "base/bytes.h"
#include "base/system_calls.h"
#include "net/socket_address.h"
#include "net/udp_options.h"

namespace gdr::net {
namespace {

constexpr std::uint32_t kUdpBytes = 8;

// Offsets count from the UDP header.
bool accept_only(int socket, std::uint64_t name) {
  std::byte bytes[sizeof name];
  std::memcpy(bytes, &name, sizeof name);
  const sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kUdpBytes),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, load_be32(bytes), 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kUdpBytes + 4),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, load_be32(bytes + 4), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, ~0u),
      BPF_STMT(BPF_RET | BPF_K, 0),
  };
  const sock_fprog program{std::size(code), const_cast<sock_filter*>(code)};
  return setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0;
}

bool accept_nothing(int socket) {
  const sock_filter code[] = {BPF_STMT(BPF_RET | BPF_K, 0)};
  const sock_fprog program{std::size(code), const_cast<sock_filter*>(code)};
  return setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0;
}

// A UDP socket that has a port on all addresses, as the only one: neither SO_REUSEADDR nor
// SO_REUSEPORT is what makes the port its own.
Result<UniqueFd> take_port_everywhere(bool ipv4, std::uint16_t* port) {
  UniqueFd socket(
      system_socket(ipv4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) return from_errno("a UDP socket");
  wire::Address any{};
  if (ipv4) any[10] = any[11] = 0xff;
  SocketAddress own = socket_address(any, 0);
  const bool one_family = ipv4 || set_option(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, 1);
  if (!one_family || !accept_nothing(socket.get()) ||
      bind(socket.get(), own.get(), own.length) != 0 ||
      getsockname(socket.get(), own.get(), &own.length) != 0) {
    return from_errno("a UDP socket");
  }
  *port = port_of(*own.get());
  return socket;
}

// Both share the port for the moment of the bind, which the kernel permits to sockets of one
// account. Afterwards neither lets anybody in.
bool bind_beside(int everywhere, int socket, const SocketAddress& own) {
  const auto share = [&](int shared) {
    return set_option(everywhere, SOL_SOCKET, SO_REUSEPORT, shared) &&
           set_option(socket, SOL_SOCKET, SO_REUSEPORT, shared);
  };
  const bool bound = share(1) && bind(socket, own.get(), own.length) == 0;
  const int error = errno;
  const bool alone = share(0);
  if (!bound) errno = error;
  return bound && alone;
}

}  // namespace

Result<PrivateSocket> PrivateSocket::open(const wire::Address& address, std::uint32_t scope,
                                          std::uint64_t secret) {
  const bool ipv4 = wire::is_ipv4(address);
  PrivateSocket made;
  std::uint16_t port = 0;
  Result<UniqueFd> everywhere = take_port_everywhere(ipv4, &port);
  if (!everywhere) return everywhere.error();
  made.everywhere_ = *std::move(everywhere);
  made.descriptor_.reset(
      system_socket(ipv4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int descriptor = made.descriptor();
  if (descriptor < 0) return from_errno("a UDP socket");
  if (!set_packet_options(descriptor, ipv4)) return from_errno("options of a UDP socket");
  constexpr std::uint64_t kPortBits = 0xffff;
  made.name_ = (secret & ~kPortBits) | port;
  // Nothing may arrive before the filter is there.
  if (!accept_only(descriptor, made.name_)) return from_errno("a UDP socket's filter");
  if (!bind_beside(made.everywhere_.get(), descriptor, socket_address(address, port, scope))) {
    return from_errno("a UDP socket beside the one that has its port on all addresses");
  }
  return made;
}

}  // namespace gdr::net
