// Between sockaddr and wire::Address, which is IPv4-mapped for IPv4.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <string>

#include "wire/icrc.h"

namespace gdr::net {

struct SocketAddress {
  sockaddr_in6 storage{};  // room for either family
  socklen_t length = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

// `scope`: the interface of a link-local IPv6 address, or group.
SocketAddress socket_address(const wire::Address& address, std::uint16_t port,
                             std::uint32_t scope = 0);
wire::Address address_of(const sockaddr& address);
std::uint16_t port_of(const sockaddr& address);
std::string to_string(const wire::Address& address);

}  // namespace gdr::net
