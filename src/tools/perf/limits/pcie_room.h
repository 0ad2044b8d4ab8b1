// What PCIe carries between several functions and memory at once: each link what its packets leave,
// and what several of them share only once.
//
//   PcieRoom room = pcie_room({{&nic0.pcie, 2}, {&nic1.pcie, 2}}, rates);
#pragma once

#include <functional>
#include <vector>

#include "perf/limits/facts.h"

namespace gdr::perf {

// Bytes a second: as a link runs, and as both its ends could.
struct PcieRates {
  double now = 0, most = 0;
};

// A function, and how many of its links are on the way, from its own on.
struct PcieWay {
  const Pcie* pcie = nullptr;
  std::size_t links = 0;
};

struct PcieRoom {
  PcieRates rates;                 // 0: not known
  const PcieLink* link = nullptr;  // the one that all of it passes and that sets it; null: several
  bool is_above = false;           // it is no function's own
};

PcieRoom pcie_room(
    const std::vector<PcieWay>& functions,
    const std::function<PcieRates(const Pcie& function, const PcieLink& link)>& rates);

}  // namespace gdr::perf
