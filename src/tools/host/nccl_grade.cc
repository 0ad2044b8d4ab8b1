#include "host/nccl_grade.h"

#include <algorithm>
#include <string>
#include <vector>

#include "host/classify.h"
#include "host/pci/vendors.h"

namespace gdr::host {
namespace {

// A function's way up through NCCL's graph.
struct Climb {
  std::vector<std::string> switches;  // the nearest first
  int cpu = -1;                       // the NUMA node whose CPU stands at its end
  std::string device;                 // without its function: ports of one card are one device
};

// NCCL takes nothing for a PCI function that is not written "BBBB:BB:DD.F"; it stops below the
// longer domains of some controllers (VMD).
bool nccl_knows(const std::string& address) { return address.size() == 12; }

Climb climb(const PciTree& tree, const PciFunction& function) {
  Climb found;
  found.device = card_of(function.address);
  // The CPU is that of the last node below it, of a card that of its function 0.
  const PciFunction* first = tree.find(found.device + ".0");
  found.cpu = first != nullptr ? first->numa_node : function.numa_node;
  if (found.cpu < 0) found.cpu = function.numa_node;
  const auto& path = function.path;
  // A node is two components of the path: a port and the upstream port above it. NCCL's own files
  // leave the port out, so there the upstream port stands right above.
  for (std::size_t at = path.size() - 1; at > 1;) {
    const PciFunction* above = tree.find(path[at - 1]);
    const bool port_left_out = above != nullptr && above->kind == PciKind::kUpstream;
    const std::size_t step = port_left_out ? 1 : 2;
    if (at <= step || !nccl_knows(path[at - 1]) || !nccl_knows(path[at - step])) break;
    at -= step;
    found.switches.push_back(path[at]);
    const PciFunction* node = tree.find(path[at]);
    if (node != nullptr && node->numa_node >= 0) found.cpu = node->numa_node;
  }
  return found;
}

// Broadcom's switches of generations 4 and 5 show themselves as two levels (getBcmGen): the
// generation, or 0 for others. `level` 1 is the lower one.
int broadcom_generation(const PciTree& tree, const std::string& address, unsigned level) {
  const PciFunction* port = tree.find(address);
  if (port == nullptr || port->vendor != vendor::kLsi) return 0;
  const unsigned block = port->subsystem_device >> 12;
  if (port->device == 0xc010 && port->subsystem_vendor == vendor::kLsi && block == 0xa) return 4;
  if (port->device == 0xc030 && port->subsystem_vendor == vendor::kLsi && block == level) return 5;
  return 0;
}

// From the CPU downwards, since NCCL merges each switch once: of three levels the lower two stay.
void flatten_broadcom(const PciTree& tree, std::vector<std::string>& switches) {
  for (std::size_t i = switches.size(); i-- > 1;) {
    const int generation = broadcom_generation(tree, switches[i], 0);
    if (generation == 0 || broadcom_generation(tree, switches[i - 1], 1) != generation) continue;
    switches.erase(switches.begin() + static_cast<std::ptrdiff_t>(--i));
  }
}

}  // namespace

const char* name_of(NcclPath path) {
  switch (path) {
    case NcclPath::kLoc:
      return "LOC";
    case NcclPath::kPix:
      return "PIX";
    case NcclPath::kPxb:
      return "PXB";
    case NcclPath::kPhb:
      return "PHB";
    case NcclPath::kSys:
      return "SYS";
  }
  return "";
}

std::optional<NcclPath> nccl_path_between(const PciTree& tree, const PciFunction& a,
                                          const PciFunction& b) {
  for (const PciFunction* one : {&a, &b}) {
    if (one->path.size() < 2 || !is_host_bridge(one->path[0])) return std::nullopt;
  }
  Climb from = climb(tree, a), to = climb(tree, b);
  if (from.device == to.device) return NcclPath::kLoc;
  flatten_broadcom(tree, from.switches);
  flatten_broadcom(tree, to.switches);
  for (std::size_t i = 0; i < from.switches.size(); ++i) {
    const auto meeting = std::find(to.switches.begin(), to.switches.end(), from.switches[i]);
    if (meeting == to.switches.end()) continue;
    return i == 0 && meeting == to.switches.begin() ? NcclPath::kPix : NcclPath::kPxb;
  }
  // What stands between a host bridge and its devices was left out, or which node they are on.
  const bool one_bridge = a.path[0] == b.path[0];
  if (one_bridge && tree.is_incomplete(a.path[0])) return std::nullopt;
  if (!one_bridge && !tree.nodes_shown()) return std::nullopt;
  return from.cpu == to.cpu ? NcclPath::kPhb : NcclPath::kSys;
}

}  // namespace gdr::host
