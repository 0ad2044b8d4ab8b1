#include "proof/hosts/far_host.h"

#include "host/inventory.h"

namespace gdr::proof {
namespace {

FarHost::Hardware hardware_of(const host::Nic& nic, const std::string& name) {
  FarHost::Hardware told{name, nic.pci_address, nic.firmware, nic.numa_node, {}};
  for (const host::Port& port : nic.ports) {
    told.ports.push_back({port.number, port.netdev, port.mac});
  }
  return told;
}

host::Nic nic_of(const FarHost::Hardware& told) {
  host::Nic nic;
  nic.name = told.name;
  nic.pci_address = told.pci_address;
  nic.firmware = told.firmware;
  nic.numa_node = told.numa_node;
  for (const FarHost::Port& each : told.ports) {
    host::Port port;
    port.number = each.number;
    port.netdev = each.netdev;
    port.mac = each.mac;
    nic.ports.push_back(std::move(port));
  }
  return nic;
}

void add_hardware(const Machine& machine, FarHost& told) {
  for (const NicEntry& nic : machine.inventory.nics) {
    if (nic.hardware) told.nics.push_back(hardware_of(*nic.hardware, nic.survey.name));
  }
  for (const GpuEntry& gpu : machine.inventory.gpus) {
    if (!gpu.hardware) continue;
    const std::string& address = gpu.survey.pci_address;
    told.gpus.push_back({address, address, {}, gpu.hardware->numa_node, {}});
  }
}

}  // namespace

Result<Selection> choose_own(const InventoryReport& inventory, const Options& options) {
  participants::DeviceWishes wishes;
  wishes.gpu = options.gpu;
  wishes.peer_nic = options.nic;
  Result<std::vector<Selection>> chosen = participants::select_devices(inventory, wishes);
  if (!chosen) return chosen.error();
  if (chosen->empty()) return Error{ENODEV, "no GPU is usable"};
  return chosen->front();
}

FarHost describe(const Machine& machine, const Options& options, const Result<Selection>& chosen) {
  FarHost told;
  const InventoryReport& inventory = machine.inventory;
  told.facts = machine.facts;
  told.facts.date.clear();  // when the server was started says nothing of a proof
  told.soft_nic = inventory.soft_nic;
  told.soft_gpu = inventory.soft_gpu;
  told.host_memory_only = inventory.host_memory_only;
  told.soft_requested = options.soft;
  told.survey = machine.survey;
  add_hardware(machine, told);
  told.peer_memory = inventory.peer_memory;
  for (const host::LoadedModule& module : machine.peer_memory_modules) {
    told.modules.push_back({module.name, module.version});
  }
  told.locked_memory_limit = inventory.locked_memory_limit.value_or(0);
  if (const auto obstacle = obstacle_on(machine, options)) {
    told.obstacle = *obstacle;
  } else if (!chosen) {
    told.obstacle = refused_step(chosen.error(), inventory);
  } else {
    told.nic = chosen->far.nic;
    told.port = chosen->far.port;
    told.ethernet = chosen->far.ethernet;
    told.gpu = chosen->far_gpu_text;
    told.gpu_ordinal = chosen->far_gpu;
  }
  if (!options.soft) {
    told.replaced = replaced_hardware(machine.shows, inventory).value_or(Obstacle{});
  }
  for (const GpuEntry& gpu : inventory.gpus) {
    if (gpu.survey.ordinal == told.gpu_ordinal) {
      told.grade = machine.grade(gpu.survey.pci_address, told.nic);
    }
  }
  return told;
}

InventoryReport inventory_of(const FarHost& host) {
  host::Inventory machine;
  for (const FarHost::Hardware& nic : host.nics) machine.nics.push_back(nic_of(nic));
  for (const FarHost::Hardware& told : host.gpus) {
    host::Gpu& gpu = machine.gpus.emplace_back();
    gpu.pci_address = told.pci_address;
    gpu.numa_node = told.numa_node;
  }
  machine.peer_memory = host.peer_memory;
  if (host.locked_memory_limit > 0) machine.locked_memory_limit = host.locked_memory_limit;
  const participants::Libraries libraries{host.survey.verbs_path,
                                          host.host_memory_only ? "" : "libcuda.so.1",
                                          host.soft_nic, host.soft_gpu};
  return participants::make_inventory(libraries, host.survey, machine);
}

std::string name_of(const FarHost& there, const std::string& this_host) {
  const std::string& name = there.facts.host;
  if (name.empty()) return "the server";
  return name == this_host ? name + " (server)" : name;
}

Selection join(const Selection& here, const std::string& this_host, const FarHost& there) {
  Selection joined;
  joined.near = here.far;
  joined.near_gpu = here.far_gpu;
  joined.near_gpu_text = here.far_gpu_text;
  joined.far = {there.nic, there.port, there.ethernet};
  joined.far_gpu = there.gpu_ordinal;
  joined.far_gpu_text = there.gpu;
  joined.near_host = this_host;
  joined.far_host = name_of(there, this_host);
  return joined;
}

}  // namespace gdr::proof
