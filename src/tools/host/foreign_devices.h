// GPUs, other accelerators and NICs that gdr does not support, by their numbers or, in text without
// numbers, by their names: a machine full of them must not be told that it has none.
//
//   if (const auto device = foreign_device(function)) puts(device->name.c_str());
#pragma once

#include <optional>

#include "host/inventory.h"

namespace gdr::host {

// Nothing for what is no GPU and no RDMA-capable NIC, for those that gdr supports, and for what
// only draws the console of a server (ASPEED, Matrox, emulated displays).
std::optional<UnsupportedDevice> foreign_device(const PciFunction& function);

// "AMD", "Broadcom"; empty: none that is known here.
const char* maker_of(std::uint16_t vendor);

}  // namespace gdr::host
