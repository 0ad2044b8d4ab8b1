// The IP addresses of this host's network interfaces.
//
//   for (const InterfaceAddress& entry : interface_addresses()) use(entry.interface,
//   entry.address);
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace gdr {

struct InterfaceAddress {
  std::string interface;                   // its name
  std::array<std::uint8_t, 16> address{};  // IPv6, or IPv4 as ::ffff:a.b.c.d
  bool is_up = false;
  bool is_loopback = false;
};

// In the kernel's order: IPv4 first. Nothing where the kernel does not tell.
std::vector<InterfaceAddress> interface_addresses();

}  // namespace gdr
