// Why a register of the PCI configuration space may not be written to on a machine, or at one port.
// Each is one line, empty where nothing stands against it.
#pragma once

#include <string>

#include "fix/machine.h"
#include "fix/plan.h"
#include "host/inventory.h"

namespace gdr::fix {

// A guest's tree is its hypervisor's, unless somebody says that there is nothing behind it.
std::string refused_in_guest(const Situation& situation);
// The kernel refuses writes to the configuration space; boot parameters still work.
std::string refused_by_lockdown(const Machine& machine);
// Layouts for which NVIDIA has ACS rules of its own, and clearing redirects breaks.
std::string refused_by_platform(const host::PciTree& tree);
// A device that somebody's guest or user-space driver owns would lose its isolation: one below the
// same switch, which the port's devices could then reach, or one of the same IOMMU groups.
std::string refused_by_assignment(const Machine& machine, const host::PciTree& tree,
                                  const host::PciFunction& port);

}  // namespace gdr::fix
