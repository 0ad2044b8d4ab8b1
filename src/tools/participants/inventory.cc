#include "participants/inventory.h"

#include <algorithm>

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

const NicEntry* find_nic(const InventoryReport& inventory, const std::string& name) {
  const auto found = std::ranges::find_if(
      inventory.nics, [&](const NicEntry& nic) { return nic.survey.name == name; });
  return found == inventory.nics.end() ? nullptr : &*found;
}

const NicPort* find_port(const NicEntry& nic, std::uint8_t number) {
  const auto found = std::ranges::find(nic.survey.ports, number, &NicPort::number);
  return found == nic.survey.ports.end() ? nullptr : &*found;
}

const host::Port* find_known_port(const NicEntry& nic, std::uint8_t number) {
  if (!nic.hardware) return nullptr;
  const auto found = std::ranges::find(nic.hardware->ports, number, &host::Port::number);
  return found == nic.hardware->ports.end() ? nullptr : &*found;
}

const GpuEntry* gpu_at(const InventoryReport& inventory, const std::string& pci_address) {
  const auto found = std::ranges::find_if(
      inventory.gpus, [&](const GpuEntry& gpu) { return gpu.survey.pci_address == pci_address; });
  return found == inventory.gpus.end() ? nullptr : &*found;
}

}  // namespace gdr::participants
