#include "perf/limits/facts.h"

#include <algorithm>

#include "base/processors.h"

namespace gdr::perf {
namespace {

Pcie pcie_of(const std::optional<host::PciFunction>& function) {
  Pcie pcie;
  if (!function) return pcie;
  pcie.path = function->path;
  for (const host::PciLink& link : function->links) {
    pcie.links.push_back(
        {link.above, link.below, link.speed, link.most_speed, link.width, link.most_width});
  }
  pcie.numa_node = function->numa_node;
  pcie.max_payload = function->max_payload.value_or(0);
  pcie.max_read_request = function->max_read_request.value_or(0);
  if (function->relaxed_ordering) {
    pcie.relaxed_ordering = *function->relaxed_ordering ? Switch::kOn : Switch::kOff;
  }
  return pcie;
}

NicFacts nic_facts(const participants::InventoryReport& inventory, const ChosenPort& chosen) {
  NicFacts facts;
  facts.name = chosen.port.nic;
  facts.port = chosen.port.port;
  facts.path_mtu = chosen.path_mtu;
  facts.ethernet = chosen.port.ethernet;
  const participants::NicEntry* nic = find_nic(inventory, chosen.port.nic);
  facts.software = !nic || is_software(inventory, *nic);
  if (!nic || facts.software) return facts;
  facts.netdev = netdev_of(*nic, chosen.port.port);
  facts.pcie = pcie_of(nic->hardware->pci);
  if (const participants::NicPort* port = find_port(*nic, chosen.port.port)) {
    facts.link_bits_per_second = port->speed * 1e6;
  }
  return facts;
}

// -1 on a host with one node.
std::int32_t node_of_this_thread(const host::Files& files) {
  if (!files.exists("sys/devices/system/node/node1")) return -1;
  unsigned core = 0, node = 0;
  return getcpu(&core, &node) == 0 ? static_cast<std::int32_t>(node) : -1;
}

}  // namespace

std::string netdev_of(const participants::NicEntry& nic, std::uint8_t port) {
  const host::Port* known = find_known_port(nic, port);
  return known != nullptr ? known->netdev : "";
}

bool is_software(const participants::InventoryReport& inventory,
                 const participants::NicEntry& nic) {
  return inventory.soft_nic || !nic.hardware || !nic.hardware->pci;
}

Facts gather_facts(const participants::InventoryReport& inventory, const Chosen& chosen,
                   const std::string& root) {
  const host::Files files(root);
  Facts facts;
  facts.host = files.line("proc/sys/kernel/hostname");
  facts.machine = files.line("proc/sys/kernel/random/boot_id");
  facts.virtual_machine = host::is_virtual_machine(files);
  facts.amd = files.text("proc/cpuinfo").find("AuthenticAMD") != std::string::npos;
  for (const ChosenPort& port : chosen.ports) facts.nics.push_back(nic_facts(inventory, port));
  for (const participants::GpuEntry& gpu : inventory.gpus) {
    const int ordinal = gpu.survey.ordinal;
    if (std::ranges::find(chosen.gpus, ordinal) == chosen.gpus.end()) continue;
    GpuFacts known{ordinal, inventory.soft_gpu, {}};
    if (gpu.hardware) known.pcie = pcie_of(gpu.hardware->pci);
    facts.gpus.push_back(std::move(known));
  }
  facts.numa_node = node_of_this_thread(files);
  facts.cores = usable_processors();
  return facts;
}

}  // namespace gdr::perf
