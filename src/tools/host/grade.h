// The grade of the way between two PCI functions, in nvidia-smi's vocabulary, and as NCCL will see
// it where that differs.
//
//   std::optional<PciPath> path = path_between(tree, *gpu.pci, *nic.pci);
//   if (path && *path <= PciPath::kPxb) puts("no CPU on the way");
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host/pci/tree.h"

namespace gdr::host {

enum class PciPath {
  kPix,   // at most one switch
  kPxb,   // several switches
  kPhb,   // a host bridge
  kNode,  // several host bridges of one NUMA node
  kSys    // between NUMA nodes
};
const char* name_of(PciPath path);

// Like nvidia-smi: a switch is a downstream port with its upstream port. Their kinds identify it;
// if a kind is unknown, two bridges in a row count as a switch. Nothing if a path does not begin at
// a host bridge, if the source omits what is below it, or if the host bridges differ and a NUMA
// node is unknown: that may be NODE or SYS.
std::optional<PciPath> path_between(const PciTree& tree, const PciFunction& a,
                                    const PciFunction& b);
// By their paths and NUMA nodes alone (-1: not known), for who has no tree.
std::optional<PciPath> path_between(const std::vector<std::string>& a, int node_a,
                                    const std::vector<std::string>& b, int node_b);

// The lowest bridge above both, empty where they meet in a host bridge or not at all.
std::string meeting_point(const PciFunction& a, const PciFunction& b);

}  // namespace gdr::host
