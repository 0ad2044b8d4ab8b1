#include "doctor/checks/registration/pairings.h"

#include "host/best_nic.h"

namespace gdr::doctor {
namespace {

// NICs as gdr topo ranks them for this GPU; all of them where the inventory does not know it.
std::vector<host::RankedNic> ranked_nics(const host::Inventory& inventory,
                                         const std::vector<host::NicChoice>& choices,
                                         const std::string& gpu) {
  for (const host::NicChoice& choice : choices) {
    if (inventory.gpus[choice.gpu].pci_address == gpu) return choice.nics;
  }
  std::vector<host::RankedNic> all;
  for (std::size_t i = 0; i < inventory.nics.size(); ++i) {
    if (inventory.nics[i].pci) all.push_back({i, {}});  // others are software: rxe, siw
  }
  return all;
}

struct Candidate {
  const host::Nic* nic;
  unsigned port;
  bool near;  // no CPU on the way
};

std::vector<Candidate> candidates(const host::Inventory& inventory,
                                  const std::vector<host::RankedNic>& nics) {
  std::vector<Candidate> found;
  for (const host::RankedNic& ranked : nics) {
    const host::Nic& nic = inventory.nics[ranked.index];
    const bool near = ranked.path && *ranked.path <= host::PciPath::kPxb;
    for (const host::Port& port : nic.ports) {
      if (is_active(port)) found.push_back({&nic, port.number, near});
    }
  }
  return found;
}

}  // namespace

std::vector<NamedPairing> choose_pairings(const host::Inventory& inventory, const CudaFacts& cuda) {
  const std::vector<host::NicChoice> choices = host::choose_nics(inventory);
  std::vector<NamedPairing> chosen;
  for (const CudaGpu& gpu : cuda.gpus) {
    bool first = true;
    const auto nics = ranked_nics(inventory, choices, gpu.pci_address);
    for (const Candidate& candidate : candidates(inventory, nics)) {
      if (!first && !candidate.near) break;
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
