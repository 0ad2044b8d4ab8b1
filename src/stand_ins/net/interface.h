// Interface: the network interface that has an address, and what it lets through.
//
//   std::optional<Interface> interface = find_interface(address);
//   std::uint32_t mtu = path_mtu_of(interface->mtu);
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "wire/icrc.h"

namespace gdr::net {

struct Interface {
  std::string name;
  std::uint32_t index = 0;
  std::uint32_t mtu = 0;  // of an IP packet
  bool is_loopback = false;
};

// Nothing: no interface of this host has it. All of 127.0.0.0/8 is the loopback interface's.
std::optional<Interface> find_interface(const wire::Address& address);

// The addresses of this host's interfaces that are up, for a message.
std::vector<std::string> addresses_of_host();

// The greatest path MTU whose packets fit: 256 to 4096. As the kernel's: headers of IPv6, all
// extended headers and the ICRC count (rdma: eth_mtu to ib_mtu).
std::uint32_t path_mtu_of(std::uint32_t interface_mtu);

}  // namespace gdr::net
