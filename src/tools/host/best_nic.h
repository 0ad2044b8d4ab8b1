// Which NIC each GPU should use, and why: the nearest; of equally near ones the one on the GPU's
// NUMA node, with the faster link, with an active port, with the faster port; and of those that are
// alike in all of it, as few GPUs as can be share one.
//
//   for (const NicChoice& choice : choose_nics(inventory)) {
//     if (choice.nics.empty()) continue;
//     const Nic& best = inventory.nics[choice.nics.front().index];
//     puts(why(choice, [&](const RankedNic& nic) { return inventory.nics[nic.index].name; }));
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "host/grade.h"
#include "host/inventory.h"

namespace gdr::host {

struct RankedNic {
  std::size_t index = 0;        // in the inventory's NICs
  std::optional<PciPath> path;  // from the GPU; nothing: not known
};

// What decided between the chosen NIC and the next one.
enum class NicReason : std::uint8_t {
  kNoNic,
  kNoDataNic,  // all that are there manage NVSwitches
  kOnlyNic,
  kNoDistance,  // of none the path is known
  kNearest,
  kNumaNode,
  kFasterLink,
  kActivePort,
  kNoPortDown,  // of its ports nothing is known, the next one's are down
  kFasterPort,
  kAlike  // nothing: shared out over the GPUs
};

struct NicChoice {
  std::size_t gpu = 0;  // in the inventory's GPUs
  // The chosen one first, then all others from the best on. Without NICs that have no PCI function
  // (rxe, siw), which are nowhere, and those that are for management.
  std::vector<RankedNic> nics;
  std::size_t alike = 0;  // how many right behind the first are as good
  NicReason reason = NicReason::kNoNic;
  std::string detail;       // what the reason is about: "32 GT/s x16"
  bool ports_down = false;  // of the chosen one
};

// One for each GPU, in the inventory's order. Of a machine larger than any, only as many GPUs and
// NICs are compared as take no time to speak of.
std::vector<NicChoice> choose_nics(const Inventory& inventory);

using NicLabel = std::function<std::string(const RankedNic& nic)>;

// "as near as NIC0, and on the GPU's NUMA node"; NICs are called what `label` calls them.
std::string why(const NicChoice& choice, const NicLabel& label);

// Says the same for a column of a table: "same NUMA node, unlike NIC0".
std::string brief_why(const NicChoice& choice, const NicLabel& label);

}  // namespace gdr::host
