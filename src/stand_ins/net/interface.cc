#include "net/interface.h"

#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cstring>

#include "base/interface_addresses.h"
#include "base/system_calls.h"
#include "base/unique_fd.h"
#include "net/socket_address.h"

namespace gdr::net {
namespace {

bool is_loopback_net(const wire::Address& address) {
  return wire::is_ipv4(address) && address[12] == 127;
}

std::uint32_t mtu_of(const char* name) {
  const UniqueFd any(system_socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  std::strncpy(request.ifr_name, name, sizeof request.ifr_name - 1);
  if (!any || ioctl(any.get(), SIOCGIFMTU, &request) != 0) return 1500;
  return static_cast<std::uint32_t>(request.ifr_mtu);
}

}  // namespace

std::optional<Interface> find_interface(const wire::Address& address) {
  for (const InterfaceAddress& entry : interface_addresses()) {
    const bool loopback =
        entry.is_loopback && is_loopback_net(entry.address) && is_loopback_net(address);
    if (entry.address != address && !loopback) continue;
    const char* name = entry.interface.c_str();
    return Interface{entry.interface, if_nametoindex(name), mtu_of(name), entry.is_loopback};
  }
  return std::nullopt;
}

std::vector<std::string> addresses_of_host() {
  std::vector<std::string> found;
  for (const InterfaceAddress& entry : interface_addresses()) {
    if (entry.is_up) found.push_back(to_string(entry.address));
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
