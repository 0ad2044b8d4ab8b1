// Equipment: the libraries and devices that this host brings to a run. It loads drivers, so it is
// for a process whose crash is a finding.
//
//   Result<Equipment> equipment = take_stock(begin);
//   if (!equipment) return Unable{equipment.error().message};
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "fabric/messages.h"
#include "host/inventory.h"
#include "participants/inventory.h"
#include "participants/libraries.h"

namespace gdr::fabric::worker {

struct Equipment {
  participants::Libraries libraries;
  participants::InventoryReport inventory;  // as the libraries name the devices
  host::Inventory machine;                  // as the kernel does
  std::vector<std::string> notes;
};

// The error is why the host cannot take part, in one line: hardware that is there and cannot be
// used is never replaced by a stand-in.
Result<Equipment> take_stock(const Begin& begin);

}  // namespace gdr::fabric::worker
