// Which ports of a host are its rails, in which order, and which GPU's memory each of them reaches.
// Pure.
//
//   Result<RailPlan> plan = choose_rails(inventory, machine, begin);
//   if (!plan) return Unable{plan.error().message};
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "fabric/messages.h"
#include "host/inventory.h"
#include "participants/inventory.h"
#include "participants/select.h"

namespace gdr::fabric::worker {

struct PlannedRail {
  std::uint16_t number = 0;
  participants::PortChoice port;
  std::optional<int> gpu;  // its ordinal; nothing: host memory
  bool software_nic = false, software_gpu = false;
  double link_bits_per_second = 0;  // 0: not known, or software
  std::string gid;                  // as text; empty on InfiniBand
  std::string netdev;               // empty: none, or not known
};

struct RailPlan {
  std::vector<PlannedRail> rails;  // this member's
  std::vector<std::string> notes;
};

// ENODEV, EINVAL: the host cannot take part; one line with what to type.
Result<RailPlan> choose_rails(const participants::InventoryReport& inventory,
                              const host::Inventory& machine, const Begin& begin);

}  // namespace gdr::fabric::worker
