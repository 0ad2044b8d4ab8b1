// An inventory made up piece by piece.
//
//   MadeUpMachine machine;
//   machine.bridge("0000:00:01.0", "pci0000:00", PciKind::kRootPort);
//   machine.gpu("0000:01:00.0", "0000:00:01.0", 0);
#pragma once

#include <map>
#include <string>

#include "topo/report.h"

namespace gdr::test {

struct MadeUpMachine {
  host::Inventory inventory;

  host::PciFunction function(const std::string& address, const std::string& parent, int node,
                             double speed = 32, unsigned width = 16) {
    host::PciFunction made;
    made.address = address;
    made.path = parent.rfind("pci", 0) == 0 ? std::vector<std::string>{parent} : paths_[parent];
    made.path.push_back(address);
    made.numa_node = node;
    made.vendor = 0x1234;
    made.device = 0x5678;
    made.links = {{parent, address, speed, 32, width, 16}};
    paths_[address] = made.path;
    inventory.pci.add(made);
    return made;
  }
  void bridge(const std::string& address, const std::string& parent,
              host::PciKind kind = host::PciKind::kUnknown, int node = -1) {
    function(address, parent, node);
    host::PciFunction* made = inventory.pci.find(address);
    made->kind = kind;
    made->class_code = 0x060400;
  }
  void gpu(const std::string& address, const std::string& parent, int node) {
    host::Gpu gpu;
    gpu.pci_address = address;
    gpu.model = "NVIDIA H100";
    gpu.driver = "nvidia";
    gpu.numa_node = node;
    gpu.pci = function(address, parent, node);
    inventory.gpus.push_back(gpu);
  }
  void nic(const std::string& name, const std::string& address, const std::string& parent, int node,
           const std::string& state = "4: ACTIVE", double speed = 32, unsigned width = 16) {
    host::Nic nic;
    nic.name = name;
    nic.pci_address = address;
    nic.driver = "mlx5_core";
    nic.firmware = "28.39.1002";
    nic.numa_node = node;
    nic.pci = function(address, parent, node, speed, width);
    host::Port port;
    port.number = 1;
    port.state = state;
    port.rate = "400 Gb/sec (4X NDR)";
    port.link_layer = "InfiniBand";
    port.netdev = "ib" + name;
    port.mac = "b8:3f:d2:00:00:01";
    nic.ports.push_back(port);
    inventory.nics.push_back(nic);
  }
  topo::Report report(const std::vector<std::string>& others = {}) const {
    Result<topo::Report> made = topo::make_report(inventory, {"captured: test", false, {}}, others);
    return made ? *std::move(made) : topo::Report{};
  }

 private:
  std::map<std::string, std::vector<std::string>> paths_;
};

// Two NUMA nodes. Node 0: below the root port 00:01.0 a switch with GPU0, NIC0 and, below a further
// switch, NIC1; another root port with NIC2; another host bridge with NIC3. Node 1: GPU1 alone, an
// NVMe drive.
inline MadeUpMachine two_node_machine() {
  using host::PciKind;
  MadeUpMachine machine;
  machine.bridge("0000:00:01.0", "pci0000:00", PciKind::kRootPort, 0);
  machine.bridge("0000:01:00.0", "0000:00:01.0", PciKind::kUpstream, 0);
  machine.bridge("0000:02:00.0", "0000:01:00.0", PciKind::kDownstream, 0);
  machine.bridge("0000:02:01.0", "0000:01:00.0", PciKind::kDownstream, 0);
  machine.bridge("0000:02:02.0", "0000:01:00.0", PciKind::kDownstream, 0);
  machine.bridge("0000:05:00.0", "0000:02:02.0", PciKind::kUpstream, 0);
  machine.bridge("0000:06:00.0", "0000:05:00.0", PciKind::kDownstream, 0);
  machine.gpu("0000:03:00.0", "0000:02:00.0", 0);
  machine.nic("mlx5_0", "0000:04:00.0", "0000:02:01.0", 0);
  machine.nic("mlx5_1", "0000:07:00.0", "0000:06:00.0", 0);
  machine.bridge("0000:00:02.0", "pci0000:00", PciKind::kRootPort, 0);
  machine.nic("mlx5_2", "0000:08:00.0", "0000:00:02.0", 0);
  machine.bridge("0000:40:01.0", "pci0000:40", PciKind::kRootPort, 0);
  machine.nic("mlx5_3", "0000:41:00.0", "0000:40:01.0", 0);
  machine.bridge("0000:80:01.0", "pci0000:80", PciKind::kRootPort, 1);
  machine.gpu("0000:81:00.0", "0000:80:01.0", 1);
  machine.bridge("0000:80:02.0", "pci0000:80", PciKind::kRootPort, 1);
  machine.inventory.numa_nodes = {{0, "0-31,64-95", {}}, {1, "32-63,96-127", {}}};
  machine.function("0000:82:00.0", "0000:80:02.0", 1);
  machine.inventory.pci.find("0000:82:00.0")->name = "NVMe SSD Controller PM174X";
  return machine;
}

}  // namespace gdr::test
