#include "doctor/checks/registration/pairings.h"

#include <algorithm>

#include "host/grade.h"

namespace gdr::doctor {
namespace {

struct Candidate {
  const host::Nic* nic;
  unsigned port;
  int distance;  // of host::PciPath; one more than the farthest: unknown
};

constexpr int kUnknownDistance = static_cast<int>(host::PciPath::kSys) + 1;

const host::Gpu* find_gpu(const host::Inventory& inventory, const std::string& address) {
  for (const host::Gpu& gpu : inventory.gpus) {
    if (gpu.pci_address == address) return &gpu;
  }
  return nullptr;
}

int distance_between(const host::Inventory& inventory, const host::Gpu* gpu, const host::Nic& nic) {
  if (gpu == nullptr || !gpu->pci || !nic.pci) return kUnknownDistance;
  const auto path = host::path_between(inventory.pci, *gpu->pci, *nic.pci);
  return path ? static_cast<int>(*path) : kUnknownDistance;
}

std::vector<Candidate> candidates(const host::Inventory& inventory, const host::Gpu* gpu) {
  std::vector<Candidate> found;
  for (const host::Nic& nic : inventory.nics) {
    if (!nic.pci) continue;  // software: rxe, siw
    const int distance = distance_between(inventory, gpu, nic);
    for (const host::Port& port : nic.ports) {
      if (port.state.find("ACTIVE") != std::string::npos) {
        found.push_back({&nic, port.number, distance});
      }
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Candidate& a, const Candidate& b) { return a.distance < b.distance; });
  return found;
}

}  // namespace

std::vector<NamedPairing> choose_pairings(const host::Inventory& inventory, const CudaFacts& cuda) {
  std::vector<NamedPairing> chosen;
  for (const CudaGpu& gpu : cuda.gpus) {
    bool first = true;
    for (const Candidate& candidate : candidates(inventory, find_gpu(inventory, gpu.pci_address))) {
      const bool near = candidate.distance <= static_cast<int>(host::PciPath::kPxb);
      if (!first && !near) break;
      first = false;
      const std::string name =
          candidate.nic->name + (candidate.port == 1 ? "" : ":" + std::to_string(candidate.port));
      chosen.push_back({{gpu.ordinal, candidate.nic->name, candidate.port},
                        "GPU " + gpu.pci_address + " - " + name});
    }
  }
  return chosen;
}

}  // namespace gdr::doctor
