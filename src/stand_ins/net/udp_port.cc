#include "net/udp_port.h"

#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "base/system_calls.h"
#include "net/interface.h"
#include "net/socket_address.h"
#include "net/udp_options.h"

namespace gdr::net {
namespace {

constexpr std::size_t kReceiveBuffer = 65536;
// The kernel counts a received packet with its bookkeeping: about two bytes for one.
constexpr std::uint32_t kTruesize = 2;
constexpr int kEcnMask = 3;
constexpr int kCongestionExperienced = 3;
constexpr int kGroupHops = 64;  // as the kernel's connection manager gives a group's address

// In a process with threads the C library's own functions cost two atomic operations more: threads
// may be cancelled in them.
ssize_t receive_message(int socket, msghdr* message) {
  return syscall(SYS_recvmsg, socket, message, MSG_DONTWAIT);
}

Error bind_error(const wire::Address& address) {
  Error error = from_errno("UDP port 4791 of " + to_string(address));
  switch (error.code) {
    case EADDRNOTAVAIL: {
      std::string text =
          error.message + "; set ip= in GDR_SOFT_DEVICES to an address of this host:";
      for (const std::string& have : addresses_of_host()) text += " " + have;
      return Error{error.code, text};
    }
    case EADDRINUSE:
      return Error{error.code,
                   error.message +
                       "; another user's process or the kernel's own RoCE has it: stop that (rdma "
                       "link delete), or set ip= in GDR_SOFT_DEVICES to another address"};
    default:
      return error;
  }
}

}  // namespace

UdpPort::UdpPort(const wire::Address& address, UniqueFd socket)
    : address_(address),
      socket_(std::move(socket)),
      sender_(socket_.get()),
      buffer_(std::make_unique<std::byte[]>(kReceiveBuffer)) {}

Result<std::unique_ptr<UdpPort>> UdpPort::open(const wire::Address& address) {
  const bool ipv4 = wire::is_ipv4(address);
  UniqueFd descriptor(
      system_socket(ipv4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!descriptor) return from_errno("a UDP socket");
  std::unique_ptr<UdpPort> port(new UdpPort(address, std::move(descriptor)));
  if (Result<void> configured = port->configure(ipv4); !configured) return configured.error();
  if (!set_option(port->descriptor(), SOL_SOCKET, SO_REUSEPORT, 1)) {
    return from_errno("options of a UDP socket");
  }
  if (const auto interface = find_interface(address)) {
    port->scope_ = interface->index;
    port->interface_mtu_ = interface->mtu;
    if (!port->send_to_groups_by(interface->index)) return from_errno("options of a UDP socket");
  }
  const SocketAddress own = socket_address(address, wire::kRocePort, port->scope_);
  if (bind(port->descriptor(), own.get(), own.length) != 0) return bind_error(address);
  return port;
}

Result<std::unique_ptr<UdpPort>> UdpPort::open_group(const wire::Address& group,
                                                     std::uint32_t interface) {
  const bool ipv4 = wire::is_ipv4(group);
  UniqueFd descriptor(
      system_socket(ipv4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!descriptor) return from_errno("a UDP socket");
  std::unique_ptr<UdpPort> port(new UdpPort(group, std::move(descriptor)));
  if (Result<void> configured = port->configure(ipv4); !configured) return configured.error();
  port->scope_ = interface;
  // Other accounts may have it, too. What other sockets of this host have joined elsewhere is not
  // wanted.
  const int socket = port->descriptor();
  const bool set = set_option(socket, SOL_SOCKET, SO_REUSEADDR, 1) &&
                   (ipv4 ? set_option(socket, IPPROTO_IP, IP_MULTICAST_ALL, 0)
                         : set_option(socket, IPPROTO_IPV6, IPV6_MULTICAST_ALL, 0));
  if (!set) return from_errno("options of a UDP socket");
  const SocketAddress own = socket_address(group, wire::kRocePort, interface);
  if (bind(socket, own.get(), own.length) != 0) return bind_error(group);
  return port;
}

bool UdpPort::set_member(bool is_member) const {
  if (wire::is_ipv4(address_)) {
    ip_mreqn request{};
    std::memcpy(&request.imr_multiaddr, address_.data() + 12, sizeof request.imr_multiaddr);
    request.imr_ifindex = static_cast<int>(scope_);
    return setsockopt(descriptor(), IPPROTO_IP, is_member ? IP_ADD_MEMBERSHIP : IP_DROP_MEMBERSHIP,
                      &request, sizeof request) == 0;
  }
  ipv6_mreq request{};
  std::memcpy(&request.ipv6mr_multiaddr, address_.data(), sizeof request.ipv6mr_multiaddr);
  request.ipv6mr_interface = scope_;
  return setsockopt(descriptor(), IPPROTO_IPV6, is_member ? IPV6_JOIN_GROUP : IPV6_LEAVE_GROUP,
                    &request, sizeof request) == 0;
}

bool UdpPort::send_to_groups_by(std::uint32_t interface) const {
  if (!wire::is_ipv4(address_)) {
    return set_option(descriptor(), IPPROTO_IPV6, IPV6_MULTICAST_IF, static_cast<int>(interface)) &&
           set_option(descriptor(), IPPROTO_IPV6, IPV6_MULTICAST_HOPS, kGroupHops);
  }
  ip_mreqn request{};
  request.imr_ifindex = static_cast<int>(interface);
  return setsockopt(descriptor(), IPPROTO_IP, IP_MULTICAST_IF, &request, sizeof request) == 0 &&
         set_option(descriptor(), IPPROTO_IP, IP_MULTICAST_TTL, kGroupHops);
}

Result<void> UdpPort::configure(bool ipv4) {
  const int socket = socket_.get();
  const bool set = set_packet_options(socket, ipv4) && set_option(socket, SOL_UDP, UDP_GRO, 1) &&
                   (ipv4 ? set_option(socket, IPPROTO_IP, IP_RECVTOS, 1)
                         : set_option(socket, IPPROTO_IPV6, IPV6_RECVTCLASS, 1));
  if (!set) return from_errno("options of a UDP socket");
  int granted = 0;
  socklen_t length = sizeof granted;
  if (getsockopt(socket, SOL_SOCKET, SO_RCVBUF, &granted, &length) == 0) {
    receive_room_ = static_cast<std::uint32_t>(granted) / kTruesize;
  }
  return {};
}

int UdpPort::send(const Burst& burst) {
  const SocketAddress to = socket_address(burst.destination, wire::kRocePort, scope_);
  if (burst.source_port == wire::kRocePort) return sender_.send(to, burst);
  return private_sender_ ? private_sender_->send(to, burst) : EBADF;
}

bool UdpPort::receive(Arrival* arrival) {
  SocketAddress from;
  iovec room{buffer_.get(), kReceiveBuffer};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int)) * 4];
  msghdr message{};
  message.msg_name = from.get();
  message.msg_namelen = sizeof from.storage;
  message.msg_iov = &room;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t got = receive_message(descriptor(), &message);
  // Errors of earlier packets are told here, too, each once.
  for (int tries = 0; got < 0 && errno != EAGAIN && tries < 8; ++tries) {
    got = receive_message(descriptor(), &message);
  }
  if (got < 0) return false;
  arrival->source = address_of(*from.get());
  arrival->source_port = port_of(*from.get());
  arrival->bytes = {buffer_.get(), static_cast<std::size_t>(got)};
  arrival->packet_bytes = static_cast<std::uint32_t>(got);
  arrival->congested = false;
  arrival->is_stray = false;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level == SOL_UDP && header->cmsg_type == UDP_GRO) {
      int value = 0;
      std::memcpy(&value, CMSG_DATA(header), sizeof value);
      if (value > 0) arrival->packet_bytes = static_cast<std::uint32_t>(value);
    } else if (header->cmsg_type == (header->cmsg_level == IPPROTO_IP ? IP_TOS : IPV6_TCLASS)) {
      // A byte, or an int whose lowest byte comes first.
      arrival->congested = (*CMSG_DATA(header) & kEcnMask) == kCongestionExperienced;
    }
  }
  return true;
}

}  // namespace gdr::net
