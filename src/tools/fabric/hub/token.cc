#include "fabric/hub/token.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>
#include <span>

#include "base/bytes.h"

namespace gdr::fabric {

// IPv4 in IPv6's form, since a socket that serves both shows it so.
Endpoint endpoint_of(int socket, Side self) {
  Endpoint endpoint{};
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  const int known = self == Side::kServer ? getsockname(socket, generic, &length)
                                          : getpeername(socket, generic, &length);
  if (known != 0) return endpoint;
  if (address.ss_family == AF_INET6) {
    const auto& six = reinterpret_cast<const sockaddr_in6&>(address);
    std::memcpy(endpoint.data(), &six.sin6_addr, 16);
    std::memcpy(endpoint.data() + 16, &six.sin6_port, 2);
  } else if (address.ss_family == AF_INET) {
    const auto& four = reinterpret_cast<const sockaddr_in&>(address);
    endpoint[10] = endpoint[11] = 0xff;
    std::memcpy(endpoint.data() + 12, &four.sin_addr, 4);
    std::memcpy(endpoint.data() + 16, &four.sin_port, 2);
  }
  return endpoint;
}

process::Share share_of(const std::string& token) {
  return process::Share({reinterpret_cast<const std::uint8_t*>(token.data()), token.size()});
}

std::optional<process::Agreement> agree_on(const process::Share& own, const Point& theirs,
                                           Side self, std::uint32_t rank,
                                           const Endpoint& accepted_at) {
  std::array<std::uint8_t, 4> number;
  store_be32(number.data(), rank);
  std::string about = "gdr fabric 3 ";
  about.append(number.begin(), number.end());
  about.append(accepted_at.begin(), accepted_at.end());
  return process::Agreement::make(own, theirs, self, about);
}

}  // namespace gdr::fabric
