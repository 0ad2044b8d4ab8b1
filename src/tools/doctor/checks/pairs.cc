#include "doctor/checks/pairs.h"

#include <algorithm>

#include "host/best_nic.h"

namespace gdr::doctor {
namespace {

// More than any host has: a capture may claim anything, and checks walk all pairs.
constexpr std::size_t kMostGpus = 128, kMostNics = 256;

}  // namespace

std::vector<GpuPairs> pairs_of(const host::Inventory& inventory) {
  std::vector<GpuPairs> found;
  for (const host::NicChoice& choice : host::choose_nics(inventory)) {
    if (found.size() == kMostGpus) break;
    GpuPairs gpu{&inventory.gpus[choice.gpu], {}, {}};
    for (const host::RankedNic& nic : choice.nics) {
      if (!nic.path || gpu.pairs.size() == kMostNics) break;  // the nearest come first
      const Pair pair{gpu.gpu, &inventory.nics[nic.index], *nic.path};
      if (gpu.pairs.empty() || pair.below_switch()) gpu.pairs.push_back(pair);
    }
    gpu.why = host::why(
        choice, [&](const host::RankedNic& nic) { return label(inventory.nics[nic.index]); });
    found.push_back(std::move(gpu));
  }
  return found;
}

std::string why_no_pairs(const host::Inventory& inventory) {
  if (inventory.gpus.empty()) return "no NVIDIA GPU";
  return inventory.nics.empty() ? "no RDMA NIC" : "no GPU and NIC whose way is known";
}

std::string label(const host::Nic& nic) { return nic.name.empty() ? nic.pci_address : nic.name; }

std::string label(const host::Gpu& gpu) { return "GPU " + gpu.pci_address; }

std::string subject_of(const Pair& pair) { return label(*pair.gpu) + " - " + label(*pair.nic); }

}  // namespace gdr::doctor
