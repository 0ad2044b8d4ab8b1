#include "participants/inventory.h"

namespace gdr::participants {

InventoryReport make_inventory(const Libraries& libraries, const Survey& survey,
                               const host::Inventory& machine) {
  InventoryReport inventory;
  inventory.soft_nic = libraries.soft_nic;
  inventory.soft_gpu = libraries.soft_gpu;
  inventory.host_memory_only = libraries.cuda.empty();
  inventory.verbs_path = survey.verbs_path;
  inventory.cuda_path = survey.cuda_path;
  inventory.verbs_problem = survey.verbs_problem;
  inventory.cuda_problem = survey.cuda_problem;
  inventory.peer_memory = machine.peer_memory;
  inventory.locked_memory_limit = machine.locked_memory_limit;
  for (const NicSurvey& nic : survey.nics) {
    NicEntry entry{nic, {}};
    for (const host::Nic& known : machine.nics) {
      if (!inventory.soft_nic && known.name == nic.name) entry.hardware = known;
    }
    inventory.nics.push_back(std::move(entry));
  }
  for (const GpuSurvey& gpu : survey.gpus) {
    GpuEntry entry{gpu, {}};
    for (const host::Gpu& known : machine.gpus) {
      if (!inventory.soft_gpu && known.pci_address == gpu.pci_address) entry.hardware = known;
    }
    inventory.gpus.push_back(std::move(entry));
  }
  return inventory;
}

}  // namespace gdr::participants
