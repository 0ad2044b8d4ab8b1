// Every RDMA NIC and NVIDIA GPU of a machine under all its names, with the PCI tree around them,
// from sysfs and procfs below a root folder ("/" is this machine; a captured tree works the same).
// Other sources (host/source) fill the same structure as far as they go.
//
//   gdr::host::Inventory inventory = gdr::host::take_inventory("/");
//   for (const gdr::host::Nic& nic : inventory.nics) puts(nic.pci_address.c_str());
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/pci/function.h"
#include "host/pci/tree.h"
#include "host/platform.h"

namespace gdr::host {

struct Gid {
  unsigned index = 0;
  std::string text;    // "0000:0000:0000:0000:0000:ffff:c0a8:0001"
  std::string type;    // "RoCE v2", "IB/RoCE v1"
  std::string netdev;  // "eth0"
};

struct Port {
  unsigned number = 0;
  // The RDMA device of this port if several share the function; empty: Nic::name.
  std::string rdma_name;
  std::string state;       // "4: ACTIVE"
  std::string link_layer;  // "Ethernet", "InfiniBand"
  std::string rate;        // "100 Gb/sec (4X EDR)"
  std::string netdev;
  std::string mac;
  std::vector<Gid> gids;  // without empty ones
};

// "4: ACTIVE"; "5: ACTIVE_DEFER" has lost its link and waits for it.
bool is_active(const Port& port);
// "100 Gb/sec (4X EDR)": 100; 0 where it is not known.
double rate_of(const Port& port);

struct Nic {
  std::string name;  // RDMA name: "mlx5_0"
  // Further RDMA devices that the source shows at the same PCI function.
  std::vector<std::string> more_names;
  std::string pci_address;  // empty for software devices such as rxe
  std::string driver;       // kernel driver of the PCI function
  std::string firmware;
  std::string board_id;  // of its board and firmware, "MT_0000000838": Mellanox calls it PSID
  int numa_node = -1;
  std::vector<Port> ports;
  std::optional<PciFunction> pci;  // nothing for software devices
  // Why it is for the management of NVSwitches and carries no data: "its product data says SW_MNG".
  // Empty: it is for data.
  std::string management;
};

bool has_active_port(const Nic& nic);
// "mlx5_0, mlx5_1"
std::string names_of(const Nic& nic);
// Sources without RDMA names call a NIC by its address.
inline bool has_rdma_name(const Nic& nic) { return nic.name != nic.pci_address; }
// The name of the RDMA device that has this port; empty if the source shows none.
std::string rdma_name_of(const Nic& nic, const Port& port);

struct Gpu {
  std::string pci_address;
  std::string model;   // as the NVIDIA driver says it; the PCI device number without that driver
  std::string driver;  // "nvidia", "vfio-pci", "nouveau", empty
  int numa_node = -1;
  std::optional<PciFunction> pci;
};

// A GPU, another accelerator or a NIC that gdr recognises and does not support. It is named
// wherever there would seem to be none.
struct UnsupportedDevice {
  enum class Kind : std::uint8_t { kGpu, kNic };
  Kind kind = Kind::kGpu;
  std::string name;  // "AMD Aqua Vanjaram [Instinct MI300X]"
  PciFunction pci;
};

struct NumaNode {
  int number = 0;
  std::string processors;      // "0-31,64-95"
  std::vector<int> distances;  // to each node, by number; empty: unknown
};

// GPUs joined by NVLink, by their PCI addresses.
struct NvLinks {
  std::string a, b;
  unsigned count = 0;
};

struct Inventory {
  std::vector<Nic> nics;
  std::vector<Gpu> gpus;
  PciTree pci;  // every function that the source shows
  std::vector<NumaNode> numa_nodes;
  std::vector<NvLinks> nvlinks;
  std::vector<UnsupportedDevice> unsupported;
  Platform platform;
  std::string product;           // "PowerEdge XE9680"; empty: unknown
  bool virtual_machine = false;  // a guest
  std::string virtual_by;        // what shows it: "DMI product HVM domU"
  // GPUs or NICs sit right on a root bus, where no PCI Express device can: the tree is made up by a
  // hypervisor, and grades say nothing.
  bool flat = false;
  // The source shows one host bridge a NUMA node, so PHB may be NODE (NCCL's files).
  bool host_bridges_merged = false;
  // What was passed over in the source, each in a sentence: "2 lines of a.txt that are no text of
  // lspci."
  std::vector<std::string> notes;
  // What the source does not show, each in a sentence: "Configuration space beyond its first 64
  // bytes: it takes root."
  std::vector<std::string> unseen;
  std::vector<std::string> peer_memory;  // what in sysfs says that a peer-memory client is loaded
  std::string gpu_driver_version;
  bool gpu_driver_open = false;  // the open kernel modules: without them no dma-buf
  std::optional<std::uint64_t> locked_memory_limit;  // bytes; nothing: unlimited or unknown
};

Inventory take_inventory(const Files& files);
inline Inventory take_inventory(const std::string& root = "/") {
  return take_inventory(Files(root));
}

// Names functions by pci.ids where the source does not, and cards at each of their functions. Not
// when an inventory is taken: it takes longer than the rest of a machine, and few ask for names.
void name_functions(Inventory& inventory);

// What NICs say of themselves in their product data, for root. It is read from the cards' own slow
// memory, so not either when an inventory is taken.
void read_product_data(const Files& files, Inventory& inventory);

// In a virtual machine the tree is the hypervisor's invention: what looks far may be near.
bool is_virtual_machine(const Files& files);
inline bool has_reliable_grades(const Inventory& machine) {
  return !machine.virtual_machine && !machine.flat;
}

// A port's counters by name ("port_rcv_packets", "packet_seq_err", …), from counters/ and
// hw_counters/: what moved between two readings is evidence.
struct Counter {
  std::string name;
  std::int64_t value = 0;
};
std::vector<Counter> read_counters(const std::string& root, const std::string& nic, unsigned port);

}  // namespace gdr::host
