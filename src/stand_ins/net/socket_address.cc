#include "net/socket_address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cstring>

namespace gdr::net {
namespace {

constexpr std::size_t kIpv4At = 12;

}  // namespace

SocketAddress socket_address(const wire::Address& address, std::uint16_t port,
                             std::uint32_t scope) {
  SocketAddress result;
  if (wire::is_ipv4(address)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    std::memcpy(&to.sin_addr, address.data() + kIpv4At, sizeof to.sin_addr);
    std::memcpy(&result.storage, &to, sizeof to);
    result.length = sizeof to;
    return result;
  }
  result.storage.sin6_family = AF_INET6;
  result.storage.sin6_port = htons(port);
  std::copy(address.begin(), address.end(), result.storage.sin6_addr.s6_addr);
  const in6_addr& to = result.storage.sin6_addr;
  if (IN6_IS_ADDR_LINKLOCAL(&to) || IN6_IS_ADDR_MC_LINKLOCAL(&to)) {
    result.storage.sin6_scope_id = scope;
  }
  result.length = sizeof result.storage;
  return result;
}

wire::Address address_of(const sockaddr& address) {
  wire::Address result{};
  if (address.sa_family == AF_INET6) {
    const auto& from = reinterpret_cast<const sockaddr_in6&>(address);
    std::copy_n(from.sin6_addr.s6_addr, result.size(), result.begin());
    return result;
  }
  const auto& from = reinterpret_cast<const sockaddr_in&>(address);
  result[10] = result[11] = 0xff;
  std::memcpy(result.data() + kIpv4At, &from.sin_addr, sizeof from.sin_addr);
  return result;
}

std::uint16_t port_of(const sockaddr& address) {
  if (address.sa_family == AF_INET6) {
    return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
  }
  return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

std::string to_string(const wire::Address& address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (wire::is_ipv4(address)) {
    inet_ntop(AF_INET, address.data() + kIpv4At, text, sizeof text);
  } else {
    inet_ntop(AF_INET6, address.data(), text, sizeof text);
  }
  return text;
}

}  // namespace gdr::net
