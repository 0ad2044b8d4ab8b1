// Layouts of NVIDIA's own processors and NICs whose PCIe ports have rules of their own: there
// redirection must stay on at some ports, and clearing it at all is wrong. rdma_topo of rdma-core
// knows these rules; gdr only knows when to leave its hands off.
//
//   std::string layout = special_layout(tree);
//   if (!layout.empty()) printf("%s: see rdma_topo\n", layout.c_str());
#pragma once

#include <string>

#include "host/pci/tree.h"

namespace gdr::host {

// "Grace", "ConnectX-8 data direct"; empty: none of them.
std::string special_layout(const PciTree& tree);

}  // namespace gdr::host
