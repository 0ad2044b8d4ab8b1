#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/system_calls.h"
#include "base/unique_fd.h"
#include "rdmacm/state.h"

namespace gdr::rdmacm {
namespace {
const sockaddr_in* v4(const sockaddr* a) { return reinterpret_cast<const sockaddr_in*>(a); }
const sockaddr_in6* v6(const sockaddr* a) { return reinterpret_cast<const sockaddr_in6*>(a); }
}  // namespace

bool is_any(const sockaddr* a) {
  return a->sa_family == AF_INET ? v4(a)->sin_addr.s_addr == 0
                                 : IN6_IS_ADDR_UNSPECIFIED(&v6(a)->sin6_addr) != 0;
}
bool is_loopback(const sockaddr* a) {
  return a->sa_family == AF_INET ? ntohl(v4(a)->sin_addr.s_addr) >> 24 == 127
                                 : IN6_IS_ADDR_LOOPBACK(&v6(a)->sin6_addr) != 0;
}
bool is_multicast(const sockaddr* a) {
  return a->sa_family == AF_INET ? IN_MULTICAST(ntohl(v4(a)->sin_addr.s_addr))
                                 : IN6_IS_ADDR_MULTICAST(&v6(a)->sin6_addr) != 0;
}
bool is_link_local(const sockaddr* a) {
  return a->sa_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&v6(a)->sin6_addr) != 0;
}
std::uint32_t scope_of(const sockaddr* a) { return v6(a)->sin6_scope_id; }
void set_scope(sockaddr* a, std::uint32_t scope) {
  reinterpret_cast<sockaddr_in6*>(a)->sin6_scope_id = scope;
}
socklen_t length_of(const sockaddr* a) {
  switch (a->sa_family) {
    case AF_INET:
      return sizeof(sockaddr_in);
    case AF_INET6:
      return sizeof(sockaddr_in6);
    default:
      return 0;
  }
}
cm::Gid gid_of(const sockaddr* a) {
  cm::Gid gid{};
  if (a->sa_family == AF_INET6) {
    std::memcpy(gid.data(), &v6(a)->sin6_addr, 16);
  } else {
    gid[10] = gid[11] = 0xff;
    std::memcpy(&gid[12], &v4(a)->sin_addr, 4);
  }
  return gid;
}
std::uint16_t port_of(const sockaddr* a) {
  return ntohs(a->sa_family == AF_INET6 ? v6(a)->sin6_port : v4(a)->sin_port);
}
void set_port(sockaddr* a, std::uint16_t port) {
  if (a->sa_family == AF_INET6) {
    reinterpret_cast<sockaddr_in6*>(a)->sin6_port = htons(port);
  } else {
    reinterpret_cast<sockaddr_in*>(a)->sin_port = htons(port);
  }
}
// By bytes: the macros of netinet/in.h read words, which a GID need not be aligned for.
bool is_link_local(const cm::Gid& gid) { return gid[0] == 0xfe && (gid[1] & 0xc0) == 0x80; }

sockaddr_storage address_of(const cm::Gid& gid, std::uint16_t port) {
  sockaddr_storage s{};
  constexpr std::array<std::uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (std::equal(kMapped.begin(), kMapped.end(), gid.begin())) {
    auto& in = reinterpret_cast<sockaddr_in&>(s);
    in.sin_family = AF_INET;
    std::memcpy(&in.sin_addr, &gid[12], 4);
  } else {
    auto& in6 = reinterpret_cast<sockaddr_in6&>(s);
    in6.sin6_family = AF_INET6;
    std::memcpy(&in6.sin6_addr, gid.data(), 16);
  }
  set_port(reinterpret_cast<sockaddr*>(&s), port);
  return s;
}

bool is_own(const sockaddr* address) {
  const UniqueFd fd(system_socket(address->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_storage any_port{};
  std::memcpy(&any_port, address, length_of(address));
  set_port(reinterpret_cast<sockaddr*>(&any_port), 0);
  return fd.get() >= 0 &&
         bind(fd.get(), reinterpret_cast<sockaddr*>(&any_port), length_of(address)) == 0;
}

}  // namespace gdr::rdmacm
