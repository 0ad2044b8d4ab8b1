// What checks of NIC ports share.
//
//   for (const PortOf& port : ports_of(host.inventory)) ... subject_of(port)
#pragma once

#include <string>
#include <vector>

#include "host/inventory.h"

namespace gdr::doctor {

struct PortOf {
  const host::Nic* nic = nullptr;
  const host::Port* port = nullptr;

  bool is_ethernet() const { return port->link_layer == "Ethernet"; }
  bool is_infiniband() const { return port->link_layer == "InfiniBand"; }
};

// Of NICs that sit on the PCI bus and carry data: software devices have no cable, no firmware and
// no switch, and what manages NVSwitches has a network of its own.
std::vector<PortOf> ports_of(const host::Inventory& inventory);

// "sys/class/infiniband/mlx5_0/ports/1"
std::string folder_of(const PortOf& port);
// "mlx5_0 port 1"
std::string subject_of(const PortOf& port);
// The state's word: "ACTIVE"; empty where it is not known.
std::string state_of(const PortOf& port);

}  // namespace gdr::doctor
