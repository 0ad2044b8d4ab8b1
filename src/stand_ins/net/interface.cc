#include "net/interface.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cstring>
#include <memory>

#include "base/unique_fd.h"
#include "net/socket_address.h"

namespace gdr::net {
namespace {

struct FreeAddresses {
  void operator()(ifaddrs* list) const { freeifaddrs(list); }
};

std::unique_ptr<ifaddrs, FreeAddresses> list_addresses() {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return nullptr;
  return std::unique_ptr<ifaddrs, FreeAddresses>(list);
}

bool is_ip(const ifaddrs& entry) {
  return entry.ifa_addr != nullptr &&
         (entry.ifa_addr->sa_family == AF_INET || entry.ifa_addr->sa_family == AF_INET6);
}

bool is_loopback_net(const wire::Address& address) {
  return wire::is_ipv4(address) && address[12] == 127;
}

std::uint32_t mtu_of(const char* name) {
  const UniqueFd any(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  std::strncpy(request.ifr_name, name, sizeof request.ifr_name - 1);
  if (!any || ioctl(any.get(), SIOCGIFMTU, &request) != 0) return 1500;
  return static_cast<std::uint32_t>(request.ifr_mtu);
}

}  // namespace

std::optional<Interface> find_interface(const wire::Address& address) {
  const auto list = list_addresses();
  for (const ifaddrs* entry = list.get(); entry != nullptr; entry = entry->ifa_next) {
    if (!is_ip(*entry)) continue;
    const wire::Address found = address_of(*entry->ifa_addr);
    const bool loopback = (entry->ifa_flags & IFF_LOOPBACK) != 0;
    if (found != address && !(loopback && is_loopback_net(found) && is_loopback_net(address))) {
      continue;
    }
    return Interface{entry->ifa_name, if_nametoindex(entry->ifa_name), mtu_of(entry->ifa_name)};
  }
  return std::nullopt;
}

std::vector<std::string> addresses_of_host() {
  std::vector<std::string> found;
  const auto list = list_addresses();
  for (const ifaddrs* entry = list.get(); entry != nullptr; entry = entry->ifa_next) {
    if (is_ip(*entry) && (entry->ifa_flags & IFF_UP) != 0) {
      found.push_back(to_string(address_of(*entry->ifa_addr)));
    }
  }
  return found;
}

std::uint32_t path_mtu_of(std::uint32_t interface_mtu) {
  constexpr std::uint32_t kIpv6 = 40, kUdp = 8, kExtended = 48, kIcrc = 4;
  for (const std::uint32_t mtu : {4096u, 2048u, 1024u, 512u}) {
    if (interface_mtu >= mtu + kIpv6 + kUdp + kExtended + kIcrc) return mtu;
  }
  return 256;
}

}  // namespace gdr::net
