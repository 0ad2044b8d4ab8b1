// Every RDMA NIC and NVIDIA GPU of a machine under all its names, from sysfs and procfs below a
// root folder ("/" is this machine; a captured tree works the same).
//
//   gdr::host::Inventory inventory = gdr::host::take_inventory("/");
//   for (const gdr::host::Nic& nic : inventory.nics) puts(nic.pci_address.c_str());
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/pci.h"

namespace gdr::host {

struct Gid {
  unsigned index = 0;
  std::string text;    // "0000:0000:0000:0000:0000:ffff:c0a8:0001"
  std::string type;    // "RoCE v2", "IB/RoCE v1"
  std::string netdev;  // "eth0"
};

struct Port {
  unsigned number = 0;
  std::string state;       // "4: ACTIVE"
  std::string link_layer;  // "Ethernet", "InfiniBand"
  std::string rate;        // "100 Gb/sec (4X EDR)"
  std::string netdev;
  std::string mac;
  std::vector<Gid> gids;  // without empty ones
};

struct Nic {
  std::string name;         // RDMA name: "mlx5_0"
  std::string pci_address;  // empty for software devices such as rxe
  std::string driver;       // kernel driver of the PCI function
  std::string firmware;
  int numa_node = -1;
  std::vector<Port> ports;
  std::optional<PciFunction> pci;  // nothing for software devices
};

struct Gpu {
  std::string pci_address;
  std::string model;   // as the NVIDIA driver says it; the PCI device number without that driver
  std::string driver;  // "nvidia", "vfio-pci", "nouveau", empty
  int numa_node = -1;
  std::optional<PciFunction> pci;
};

struct Inventory {
  std::vector<Nic> nics;
  std::vector<Gpu> gpus;
  std::vector<std::string> peer_memory;  // what in sysfs says that a peer-memory client is loaded
  std::string gpu_driver_version;
  bool gpu_driver_open = false;  // the open kernel modules: without them no dma-buf
  std::optional<std::uint64_t> locked_memory_limit;  // bytes; nothing: unlimited or unknown
};

Inventory take_inventory(const std::string& root = "/");

// A port's counters by name ("port_rcv_packets", "packet_seq_err", …), from counters/ and
// hw_counters/: what moved between two readings is evidence.
struct Counter {
  std::string name;
  std::int64_t value = 0;
};
std::vector<Counter> read_counters(const std::string& root, const std::string& nic, unsigned port);

}  // namespace gdr::host
