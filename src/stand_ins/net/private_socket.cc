#include "net/private_socket.h"

#include <linux/filter.h>
#include <sys/socket.h>

#include <cstring>
#include <vector>

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

}  // namespace

Result<PrivateSocket> PrivateSocket::open(const wire::Address& address, std::uint64_t secret) {
  const bool ipv4 = wire::is_ipv4(address);
  PrivateSocket made;
  made.descriptor_.reset(
      system_socket(ipv4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int descriptor = made.descriptor();
  if (descriptor < 0) return from_errno("a UDP socket");
  if (!set_packet_options(descriptor, ipv4)) return from_errno("options of a UDP socket");
  // No address, and neither SO_REUSEADDR nor SO_REUSEPORT: that is what makes the port its own.
  wire::Address any{};
  if (ipv4) any[10] = any[11] = 0xff;
  SocketAddress own = socket_address(any, 0);
  // Nothing may arrive before the filter is there, and the port is known only once it is bound.
  if (!accept_only(descriptor, secret) || bind(descriptor, own.get(), own.length) != 0 ||
      getsockname(descriptor, own.get(), &own.length) != 0) {
    return from_errno("a UDP socket");
  }
  constexpr std::uint64_t kPortBits = 0xffff;
  made.name_ = (secret & ~kPortBits) | port_of(*own.get());
  if (!accept_only(descriptor, made.name_)) return from_errno("a UDP socket's filter");
  return made;
}

}  // namespace gdr::net
