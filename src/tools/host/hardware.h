// Does this machine have an RDMA NIC or an NVIDIA GPU at all? Reads sysfs below a root folder, so
// that captured machines can be asked too. A device counts although nobody can use it (no driver,
// no device node in a container): a stand-in must never hide that real hardware does not work.
//
//   if (!gdr::host::has_gpu("/")) use_the_software_gpu();
#pragma once

#include <string>
#include <vector>

#include "host/files.h"

namespace gdr::host {

// A device of /sys/class/infiniband that `gdr run` shows there in place of a real one.
bool is_software_nic(const Files& files, const std::string& name);

// Any other device in /sys/class/infiniband.
bool has_rdma_nic(const std::string& root = "/");

// A NIC on the PCI bus that is surely made for RDMA (an InfiniBand controller, NVIDIA's Ethernet
// controllers, Amazon's EFA), whether or not its RDMA driver is loaded; not one that is set aside
// for a virtual machine.
bool has_nic_card(const std::string& root = "/");

// PCI addresses of NVIDIA's display-class functions, in their order.
std::vector<std::string> gpus(const std::string& root = "/");
inline bool has_gpu(const std::string& root = "/") { return !gpus(root).empty(); }

}  // namespace gdr::host
