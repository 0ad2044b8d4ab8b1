// What NCCL will make of the paths between GPUs and NICs, where that is not what nvidia-smi's
// grades say.
//
//   for (const NcclDifference& one : nccl_differences(inventory, devices, matrix)) ...
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/nccl_grade.h"
#include "topo/best.h"
#include "topo/devices.h"
#include "topo/matrix.h"

namespace gdr::topo {

struct NcclDifference {
  host::PciPath ours = host::PciPath::kPix;
  host::NcclPath theirs = host::NcclPath::kPix;
  std::string why;
  std::vector<std::pair<std::size_t, std::size_t>> pairs;  // GPU and NIC, in the list of devices
};

std::optional<host::NcclPath> nccl_path(const host::Inventory& inventory, const Device& a,
                                        const Device& b);

// One for each two grades, the nearest first.
std::vector<NcclDifference> nccl_differences(const host::Inventory& inventory,
                                             const std::vector<Device>& devices,
                                             const Matrix& matrix);

// RDMA names of the NICs that are for management, with commas as NCCL_IB_HCA takes them. Empty
// where there are none, or the source does not show the name of each.
std::string management_names(const host::Inventory& inventory);

// Lines for GPUs to whose best NIC NCCL uses no GPUDirect RDMA unless it is told to: "GPU0, GPU1:
// …; NCCL_NET_GDR_LEVEL=PHB".
std::vector<std::string> nccl_advice(const host::Inventory& inventory,
                                     const std::vector<Device>& devices,
                                     const std::vector<Choice>& choices);

}  // namespace gdr::topo
