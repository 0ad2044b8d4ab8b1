// What follows from all that a source has shown of a machine, whichever source it is: whether it is
// a guest, which NUMA node is meant where only one is, what gdr does not support, which NICs are
// for management, and what stays unknown.
//
//   inventory.gpus = ...; inventory.nics = ...; inventory.pci = ...; inventory.numa_nodes = ...;
//   draw_conclusions(inventory, {.all_nodes = true});
#pragma once

#include "host/inventory.h"

namespace gdr::host {

struct Shown {
  // Every bridge on a path: else a device right on a root bus may sit below one that was left out.
  bool bridges = true;
  // The ports of switches and root ports, which NCCL's files leave out.
  bool ports = true;
  // No NUMA node means that the machine has no more than one.
  bool all_nodes = false;
};

void draw_conclusions(Inventory& machine, const Shown& shown);

}  // namespace gdr::host
