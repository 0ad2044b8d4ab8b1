// Addresses of a port that its library cannot tell.
//
//   take_mac(inventory, port, opened);
#pragma once

#include "participants/inventory.h"
#include "participants/select.h"
#include "proof/messages.h"

namespace gdr::proof {

// sysfs's MAC address, where it has one: the library can only resolve it where a route exists.
void take_mac(const participants::InventoryReport& inventory,
              const participants::PortChoice& choice, Open::Reply& opened);

}  // namespace gdr::proof
