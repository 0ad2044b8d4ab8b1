// InventoryReport: the devices that may take part, as their libraries name them, with what the
// kernel says of each.
//
//   InventoryReport devices =
//       make_inventory(libraries, survey(libraries.verbs, libraries.cuda), host::take_inventory());
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/inventory.h"
#include "participants/libraries.h"
#include "participants/survey.h"

namespace gdr::participants {

struct NicEntry {
  NicSurvey survey;
  std::optional<host::Nic> hardware;  // sysfs's view; nothing for stand-ins
};
struct GpuEntry {
  GpuSurvey survey;
  std::optional<host::Gpu> hardware;
};
struct InventoryReport {
  bool soft_nic = false;
  bool soft_gpu = false;
  bool host_memory_only = false;  // nothing was asked about GPUs, and none was looked for
  std::string verbs_path, cuda_path;
  std::string verbs_problem, cuda_problem;  // why a library is not there or finds nothing
  std::vector<NicEntry> nics;
  std::vector<GpuEntry> gpus;
  std::vector<std::string> peer_memory;
  std::optional<std::uint64_t> locked_memory_limit;
};

InventoryReport make_inventory(const Libraries& libraries, const Survey& survey,
                               const host::Inventory& machine);

// Entries of it; null: not there.
const NicEntry* find_nic(const InventoryReport& inventory, const std::string& name);
const NicPort* find_port(const NicEntry& nic, std::uint8_t number);
const host::Port* find_known_port(const NicEntry& nic, std::uint8_t number);  // as sysfs has it
const GpuEntry* gpu_at(const InventoryReport& inventory, const std::string& pci_address);

}  // namespace gdr::participants
