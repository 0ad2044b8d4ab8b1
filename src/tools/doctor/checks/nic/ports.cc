#include "doctor/checks/nic/ports.h"

#include "doctor/checks/pairs.h"

namespace gdr::doctor {

std::vector<PortOf> ports_of(const host::Inventory& inventory) {
  std::vector<PortOf> ports;
  for (const host::Nic& nic : inventory.nics) {
    if (!nic.pci || !nic.management.empty()) continue;
    for (const host::Port& port : nic.ports) ports.push_back({&nic, &port});
  }
  return ports;
}

std::string folder_of(const PortOf& port) {
  return "sys/class/infiniband/" + port.nic->name + "/ports/" + std::to_string(port.port->number);
}

std::string subject_of(const PortOf& port) {
  return label(*port.nic) + " port " + std::to_string(port.port->number);
}

// "4: ACTIVE"
std::string state_of(const PortOf& port) {
  const std::string& state = port.port->state;
  const auto colon = state.find(": ");
  return colon == std::string::npos ? state : state.substr(colon + 2);
}

}  // namespace gdr::doctor
