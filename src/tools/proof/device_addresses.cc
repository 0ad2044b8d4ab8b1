#include "proof/device_addresses.h"

#include <cstdio>

namespace gdr::proof {

void take_mac(const participants::InventoryReport& inventory,
              const participants::PortChoice& choice, Open::Reply& opened) {
  const participants::NicEntry* const nic = participants::find_nic(inventory, choice.nic);
  const host::Port* const port =
      nic != nullptr ? participants::find_known_port(*nic, choice.port) : nullptr;
  unsigned m[6];
  if (port == nullptr || std::sscanf(port->mac.c_str(), "%x:%x:%x:%x:%x:%x", m, m + 1, m + 2, m + 3,
                                     m + 4, m + 5) != 6) {
    return;
  }
  for (std::size_t i = 0; i < 6; ++i) opened.mac[i] = static_cast<std::uint8_t>(m[i]);
  opened.has_mac = true;
}

}  // namespace gdr::proof
