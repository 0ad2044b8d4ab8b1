// Name: an IP address and a port, of either version, to compare and to look up.
//
//   std::optional<Name> name = name_of(address, length);
//   sockaddr_storage to; socklen_t length = write_address(*name, AF_INET6, to);
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <compare>
#include <cstdint>
#include <optional>

namespace gdr::rsockets {

using Address = std::array<std::uint8_t, 16>;  // an IPv4 address as ::ffff:a.b.c.d, as GIDs have it

struct Name {
  Address address{};
  std::uint16_t port = 0;   // host order
  std::uint32_t scope = 0;  // of a link-local address: its interface

  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 sees a null pointer in the generated code
  auto operator<=>(const Name&) const = default;
};

bool is_v4(const Address& address);
bool is_any(const Address& address);
bool is_loopback(const Address& address);
// A group, or every host at once.
bool is_group(const Address& address);

// Nothing if it is of another family or cut short.
std::optional<Name> name_of(const sockaddr* address, socklen_t length);

// As the socket calls take it.
inline sockaddr* raw(sockaddr_storage& address) { return reinterpret_cast<sockaddr*>(&address); }

// As a socket of that family writes it; 0: an IPv6 address has no name in AF_INET.
socklen_t write_address(const Name& name, sa_family_t family, sockaddr_storage& to);

}  // namespace gdr::rsockets
