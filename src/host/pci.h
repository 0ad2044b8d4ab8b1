// PCI functions as sysfs shows them: where in the tree one sits, what its links run at and could
// run at, and which path joins two of them.
//
//   std::optional<PciFunction> nic = read_pci_function(files,
//   "sys/class/infiniband/mlx5_0/device"); std::optional<PciPath> path = path_between(nic->path,
//   nic->numa_node, gpu.path, gpu.numa_node);
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host/files.h"

namespace gdr::host {

struct PciLink {
  std::string above, below;          // addresses of its two ends
  double speed = 0, most_speed = 0;  // GT/s a lane; 0: not known. The most that both ends can do.
  unsigned width = 0, most_width = 0;
};

struct PciFunction {
  std::string address;
  // From the host bridge, "pci0000:00", over each bridge to the function itself.
  std::vector<std::string> path;
  std::vector<PciLink> links;  // the function's own first, the root port's last
  int numa_node = -1;
  // Of the PCI Express capability, which without root cannot be read.
  std::optional<unsigned> max_payload, max_read_request;  // bytes
  std::optional<bool> relaxed_ordering;
};

// `device`: the function's folder, or a link to it or to what the function carries. Nothing where
// no PCI function lies above it, as with software devices.
std::optional<PciFunction> read_pci_function(const Files& files, const std::string& device);

// nvidia-smi's grades.
enum class PciPath {
  kPix,   // at most one switch
  kPxb,   // several switches
  kPhb,   // a host bridge
  kNode,  // several host bridges of one NUMA node
  kSys    // between NUMA nodes
};
const char* name_of(PciPath path);

// Between two functions by their paths and NUMA nodes (-1: not known). Switches are told from
// single bridges by counting, since the kinds of ports cannot be read without root: each is two
// bridges in a row. Nothing where a path does not begin at a host bridge.
std::optional<PciPath> path_between(const std::vector<std::string>& a, int node_a,
                                    const std::vector<std::string>& b, int node_b);

// In a virtual machine the tree is the hypervisor's invention: what looks far may be near.
bool is_virtual_machine(const Files& files);

}  // namespace gdr::host
