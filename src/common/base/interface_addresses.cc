#include "base/interface_addresses.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <cstring>
#include <memory>
#include <optional>

namespace gdr {
namespace {

struct FreeAddresses {
  void operator()(ifaddrs* list) const { freeifaddrs(list); }
};

std::optional<std::array<std::uint8_t, 16>> address_in(const sockaddr* from) {
  std::array<std::uint8_t, 16> address{};
  if (from == nullptr) return std::nullopt;
  if (from->sa_family == AF_INET6) {
    std::memcpy(address.data(), &reinterpret_cast<const sockaddr_in6*>(from)->sin6_addr, 16);
    return address;
  }
  if (from->sa_family != AF_INET) return std::nullopt;
  address[10] = address[11] = 0xff;
  std::memcpy(&address[12], &reinterpret_cast<const sockaddr_in*>(from)->sin_addr, 4);
  return address;
}

}  // namespace

std::vector<InterfaceAddress> interface_addresses() {
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) return {};
  const std::unique_ptr<ifaddrs, FreeAddresses> list(first);
  std::vector<InterfaceAddress> found;
  for (const ifaddrs* entry = first; entry != nullptr; entry = entry->ifa_next) {
    const auto address = address_in(entry->ifa_addr);
    if (!address) continue;
    found.push_back({entry->ifa_name, *address, (entry->ifa_flags & IFF_UP) != 0,
                     (entry->ifa_flags & IFF_LOOPBACK) != 0});
  }
  return found;
}

}  // namespace gdr
