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

// Ports of data NICs on the PCI bus. Software devices have no cable, firmware or switch, and NICs
// that manage NVSwitches have a network of their own.
std::vector<PortOf> ports_of(const host::Inventory& inventory);

// "sys/class/infiniband/mlx5_0/ports/1"
std::string folder_of(const PortOf& port);
// "mlx5_0 port 1"
std::string subject_of(const PortOf& port);
// The state's word: "ACTIVE"; empty where it is not known.
std::string state_of(const PortOf& port);

}  // namespace gdr::doctor
