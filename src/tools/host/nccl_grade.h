// What NCCL will take the way between two PCI functions for. It builds its own graph, with one node
// a switch and no NODE, so it sometimes differs from nvidia-smi's grade (grade.h), and decides by
// it whether to use GPUDirect RDMA.
//
// As NCCL 2.30.7 does it: src/graph/xml.cc (ncclTopoGetXmlFromSys), topo.cc
// (ncclTopoFlattenBcmSwitches) and paths.cc (ncclTopoSetPaths, ncclTopoCheckGdr). What depends on
// more than the PCI tree is left out: NVLink and the GPUs that NCCL relays through (PXN), links
// between CPU and GPU as on Grace (C2C, P2C).
//
//   std::optional<NcclPath> path = nccl_path_between(tree, *gpu.pci, *nic.pci);
//   if (path && !nccl_uses_gdr(*path)) puts("needs NCCL_NET_GDR_LEVEL");
#pragma once

#include <optional>

#include "host/pci/tree.h"

namespace gdr::host {

enum class NcclPath {
  kLoc,  // the same device
  kPix,  // at most one switch
  kPxb,  // several switches
  kPhb,  // a CPU
  kSys   // several NUMA nodes
};
const char* name_of(NcclPath path);

// Nothing where a path does not begin at a host bridge, or the source does not show what decides.
std::optional<NcclPath> nccl_path_between(const PciTree& tree, const PciFunction& a,
                                          const PciFunction& b);

// The default, if NCCL_NET_GDR_LEVEL is unset.
constexpr bool nccl_uses_gdr(NcclPath path) { return path <= NcclPath::kPxb; }

}  // namespace gdr::host
