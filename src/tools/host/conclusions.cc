#include "host/conclusions.h"

#include <algorithm>
#include <set>

#include "host/classify.h"
#include "host/foreign_devices.h"
#include "host/management.h"
#include "host/pci/names.h"

namespace gdr::host {
namespace {

constexpr std::size_t kMostUnsupported = 1024;

// Nodes without processors are memory: of a GPU, or behind CXL.
void find_only_node(Inventory& machine, const Shown& shown) {
  std::vector<int> nodes;
  for (const NumaNode& node : machine.numa_nodes) {
    if (!node.processors.empty()) nodes.push_back(node.number);
  }
  if (nodes.empty() && machine.numa_nodes.size() == 1 && shown.all_nodes) {
    nodes.push_back(machine.numa_nodes.front().number);
  }
  if (nodes.empty() && machine.numa_nodes.empty() && shown.all_nodes) nodes.push_back(0);
  if (nodes.size() == 1 && shown.all_nodes) machine.pci.set_only_node(nodes.front());
}

template <typename Take>
void each_function(const Inventory& machine, Take take) {
  for (const Gpu& gpu : machine.gpus) take(gpu.pci);
  for (const Nic& nic : machine.nics) take(nic.pci);
}

// Right below a host bridge although its bus is not the first, or, as behind a port, alone on a bus
// of its own.
bool lacks_its_bridge(const PciFunction& function) {
  const std::string& address = function.address;
  const std::string bus = address.substr(0, address.rfind(':'));
  return function.path[0] != "pci" + bus ||
         (!bus.ends_with(":00") && address.substr(address.rfind(':'), 3) == ":00");
}

void judge_guest(Inventory& machine, const Shown& shown) {
  const GuestSign platform = guest_by_platform(machine.platform);
  GuestSign found = platform;
  if (found.answer != Guest::kYes) found = guest_by_functions(machine.pci);
  if (found.answer != Guest::kYes) found = platform;
  if (found.answer == Guest::kUnknown) found = guest_by_likely_functions(machine.pci);
  machine.virtual_machine = found.answer == Guest::kYes;
  machine.virtual_by = machine.virtual_machine ? found.sign : std::string();
  if (!shown.ports) return;
  bool on_root_bus = false, without_bridge = false;
  each_function(machine, [&](const std::optional<PciFunction>& function) {
    if (!sits_on_root_bus(function)) return;
    const bool lacking = !shown.bridges && !machine.virtual_machine &&
                         (machine.platform.firmware == "PowerNV" || lacks_its_bridge(*function));
    if (lacking) machine.pci.set_incomplete(function->path[0]);
    (lacking ? without_bridge : on_root_bus) = true;
  });
  if (without_bridge) {
    machine.unseen.push_back(
        "Bridges between some host bridges and the devices below them: the file lacks them; write "
        "it with 'lstopo --whole-io machine.xml'.");
  }
  if (!on_root_bus || platform.answer == Guest::kNo) return;
  machine.flat = true;
  machine.virtual_machine = true;
  if (machine.virtual_by.empty()) machine.virtual_by = "GPUs or NICs directly on a root bus";
}

void list_unsupported(Inventory& machine) {
  std::set<std::string> known;
  each_function(machine, [&](const std::optional<PciFunction>& function) {
    if (function) known.insert(function->address);
  });
  PciNames names;
  for (const auto& [address, shown] : machine.pci.functions()) {
    if (known.contains(address) || shown.is_virtual_function) continue;
    if (machine.unsupported.size() == kMostUnsupported || !foreign_device(shown)) continue;
    PciFunction& function = *machine.pci.find(address);
    if (function.name.empty()) function.name = names.device(function.vendor, function.device);
    function.remark = "unsupported";
    machine.unsupported.push_back(*foreign_device(function));
  }
}

// Which GPUs and NICs it concerns is seen in the matrix.
void note_unknown_nodes(Inventory& machine) {
  std::set<std::string> bridges;
  bool unknown = false;
  each_function(machine, [&](const std::optional<PciFunction>& function) {
    if (!function || function->path.size() < 2 || !is_host_bridge(function->path[0])) return;
    bridges.insert(function->path[0]);
    unknown = unknown || machine.pci.node_of(*function) < 0;
  });
  if (!unknown || bridges.size() < 2) return;
  machine.unseen.push_back(
      "The NUMA node of some GPUs or NICs: paths between host bridges are NODE or SYS, shown as "
      "N/A.");
}

}  // namespace

void draw_conclusions(Inventory& machine, const Shown& shown) {
  find_only_node(machine, shown);
  judge_guest(machine, shown);
  list_unsupported(machine);
  mark_management(machine);
  note_unknown_nodes(machine);
}

}  // namespace gdr::host
