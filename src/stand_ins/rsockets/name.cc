#include "rsockets/name.h"

#include <algorithm>
#include <cstring>

namespace gdr::rsockets {
namespace {

constexpr Address kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

bool is_link_local(const Address& address) {
  return address[0] == 0xfe && (address[1] & 0xc0) == 0x80;
}

}  // namespace

bool is_v4(const Address& address) {
  return std::equal(kMapped.begin(), kMapped.begin() + 12, address.begin());
}

bool is_any(const Address& address) {
  const auto begin = is_v4(address) ? address.begin() + 12 : address.begin();
  return std::all_of(begin, address.end(), [](std::uint8_t byte) { return byte == 0; });
}

bool is_loopback(const Address& address) {
  if (is_v4(address)) return address[12] == 127;
  return address[15] == 1 &&
         std::all_of(address.begin(), address.end() - 1, [](auto byte) { return byte == 0; });
}

bool is_group(const Address& address) {
  if (!is_v4(address)) return address[0] == 0xff;
  const bool everybody =
      std::all_of(address.begin() + 12, address.end(), [](auto byte) { return byte == 0xff; });
  return everybody || (address[12] & 0xf0) == 0xe0;
}

std::optional<Name> name_of(const sockaddr* address, socklen_t length) {
  Name name;
  sockaddr_storage copy{};
  if (address == nullptr || length < sizeof(sa_family_t)) return std::nullopt;
  std::memcpy(&copy, address, std::min<std::size_t>(length, sizeof copy));
  if (copy.ss_family == AF_INET && length >= sizeof(sockaddr_in)) {
    const auto& in = reinterpret_cast<const sockaddr_in&>(copy);
    name.address = kMapped;
    std::memcpy(&name.address[12], &in.sin_addr, 4);
    name.port = ntohs(in.sin_port);
    return name;
  }
  if (copy.ss_family != AF_INET6 || length < sizeof(sockaddr_in6)) return std::nullopt;
  const auto& in6 = reinterpret_cast<const sockaddr_in6&>(copy);
  std::memcpy(name.address.data(), &in6.sin6_addr, 16);
  name.port = ntohs(in6.sin6_port);
  if (is_link_local(name.address)) name.scope = in6.sin6_scope_id;
  return name;
}

socklen_t write_address(const Name& name, sa_family_t family, sockaddr_storage& to) {
  to = {};
  if (family == AF_INET) {
    if (!is_v4(name.address)) return 0;
    auto& in = reinterpret_cast<sockaddr_in&>(to);
    in.sin_family = AF_INET;
    std::memcpy(&in.sin_addr, &name.address[12], 4);
    in.sin_port = htons(name.port);
    return sizeof in;
  }
  auto& in6 = reinterpret_cast<sockaddr_in6&>(to);
  in6.sin6_family = AF_INET6;
  std::memcpy(&in6.sin6_addr, name.address.data(), 16);
  in6.sin6_port = htons(name.port);
  in6.sin6_scope_id = name.scope;
  return sizeof in6;
}

}  // namespace gdr::rsockets
