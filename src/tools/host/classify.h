// What a PCI function is by its numbers, and what a machine's tree is by where its devices sit.
//
//   if (is_gpu(function)) ...
#pragma once

#include <cstddef>

#include "host/inventory.h"

namespace gdr::host {

// No machine has as many PCI functions.
inline constexpr std::size_t kMostFunctions = 20'000;

// NVIDIA's display controllers; not their audio functions and switches.
bool is_gpu(const PciFunction& function);

// Network controllers of vendors and kinds that are RDMA NICs, where no RDMA name says it.
bool is_likely_rdma_nic(const PciFunction& function);

// A NIC that no RDMA device can belong to, whatever a file calls it: sockets of virtual NICs in
// NCCL's files, HPE Slingshot, which has no verbs.
bool has_no_verbs(const PciFunction& function);

// The class of a function by its vendor and name, if the source does not show the class. 0 if it is
// irrelevant here.
std::uint32_t class_by_name(const PciFunction& function);

// A GPU or a NIC right on a root bus: see Inventory::flat.
bool sits_on_root_bus(const std::optional<PciFunction>& function);

}  // namespace gdr::host
