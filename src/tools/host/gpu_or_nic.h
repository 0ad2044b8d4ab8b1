// Does what describes a machine show a GPU or a NIC at all? A capture that shows neither (an empty
// folder, a container without sysfs, a bare virtual machine) is no base for a diagnosis.
//
//   if (!shows_gpu_or_nic(inventory)) say("... shows neither GPU nor NIC");
#pragma once

#include "host/inventory.h"

namespace gdr::host {

// Any accelerator and any network controller counts, also one that GPUDirect RDMA is not supported
// on: that it is there is worth saying. What a hypervisor or a board's management makes up does not
// (virtio, QEMU, VMware, Hyper-V, Xen; the graphics of ASPEED and Matrox).
bool shows_gpu_or_nic(const Inventory& machine);

}  // namespace gdr::host
