#include "doctor/checks/pairs.h"

#include <stdlib.h>

#include <algorithm>
#include <map>

namespace gdr::doctor {
namespace {

// More than any host has: a capture may claim anything, and the pairs are their product.
constexpr std::size_t kMostGpus = 128, kMostNics = 256;

double fastest(const host::Nic& nic) {
  double rate = 0;
  for (const host::Port& port : nic.ports) rate = std::max(rate, rate_of(port));
  return rate;
}

std::vector<Pair> all_pairs(const host::Inventory& inventory, const host::Gpu& gpu) {
  std::vector<Pair> pairs;
  if (!gpu.pci) return pairs;
  const std::size_t count = std::min(inventory.nics.size(), kMostNics);
  for (std::size_t i = 0; i < count; ++i) {
    const host::Nic& nic = inventory.nics[i];
    if (!nic.pci) continue;
    if (const auto grade = host::path_between(inventory.pci, *gpu.pci, *nic.pci)) {
      pairs.push_back({&gpu, &nic, *grade});
    }
  }
  return pairs;
}

}  // namespace

std::vector<GpuPairs> pairs_of(const host::Inventory& inventory) {
  std::vector<GpuPairs> found;
  std::map<const host::Nic*, unsigned> taken;
  for (const host::Gpu& gpu : inventory.gpus) {
    if (found.size() == kMostGpus) break;
    std::vector<Pair> pairs = all_pairs(inventory, gpu);
    std::stable_sort(pairs.begin(), pairs.end(), [&](const Pair& a, const Pair& b) {
      if (a.grade != b.grade) return a.grade < b.grade;
      const bool active = has_active_port(*a.nic), other = has_active_port(*b.nic);
      if (active != other) return active;
      const double rate = fastest(*a.nic), other_rate = fastest(*b.nic);
      if (rate != other_rate) return rate > other_rate;
      return taken[a.nic] < taken[b.nic];
    });
    std::size_t kept = pairs.empty() ? 0 : 1;
    while (kept < pairs.size() && pairs[kept].below_switch()) ++kept;
    pairs.resize(kept);
    if (!pairs.empty()) ++taken[pairs.front().nic];
    found.push_back({&gpu, std::move(pairs)});
  }
  return found;
}

std::string label(const host::Nic& nic) { return nic.name.empty() ? nic.pci_address : nic.name; }

std::string label(const host::Gpu& gpu) { return "GPU " + gpu.pci_address; }

std::string subject_of(const Pair& pair) { return label(*pair.gpu) + " - " + label(*pair.nic); }

bool has_active_port(const host::Nic& nic) {
  return std::ranges::any_of(nic.ports, [](const host::Port& port) {
    return port.state.find("ACTIVE") != std::string::npos &&
           port.state.find("DEFER") == std::string::npos;
  });
}

double rate_of(const host::Port& port) {
  const double rate = strtod(port.rate.c_str(), nullptr);
  return rate > 0 && rate < 1e6 ? rate : 0;
}

}  // namespace gdr::doctor
