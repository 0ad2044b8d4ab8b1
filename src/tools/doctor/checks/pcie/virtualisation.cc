// A virtual machine sees the PCI tree that its hypervisor shows.
#include "doctor/checks/all.h"
#include "doctor/evidence.h"
#include "doctor/host.h"

namespace gdr::doctor {
namespace virtualisation_check {

constexpr const char* kExplanation =
    "In a virtual machine the hypervisor may invent the PCI tree, and ACS, IOMMU and link settings "
    "belong to the host: changing them in the guest does nothing, or breaks the isolation that the "
    "host relies on. The guest cannot see how near a GPU and a NIC are. For transfers between "
    "passed-through devices the host must switch on ATS of the NIC and direct translated requests "
    "on its port. gdr recognises a guest by the CPU's hypervisor flag, /sys/hypervisor, the names "
    "in DMI or the device tree, and PCI functions that hypervisors emulate. Xen's first domain "
    "(dom0) has the hardware and is none. If GPUs or NICs are "
    "directly on a root bus, which is impossible for PCI Express devices, the tree is invented.";

std::string sign_of(const host::Inventory& inventory) {
  return inventory.virtual_by.empty() ? "a virtual machine"
                                      : "a virtual machine: " + inventory.virtual_by;
}

Findings find(const Host& host) {
  const host::Inventory& inventory = host.inventory;
  if (!shows(host.files, "proc/cpuinfo") && !inventory.virtual_machine && !inventory.flat) {
    return {not_shown(host.files, "proc/cpuinfo", "whether this is a virtual machine")};
  }
  const Evidences evidence = {
      {"/proc/cpuinfo, /sys/hypervisor/type",
       inventory.virtual_machine ? sign_of(inventory) : "no hypervisor found"},
      read_line(host.files, "sys/class/dmi/id/product_name")};
  if (inventory.flat) {
    return {warn("", "a virtual machine whose PCI tree is flat", evidence,
                 "Distances between GPUs and NICs are invisible here; grades are unreliable.",
                 {to_type("gdr perf", "measures them"),
                  to_do("give NCCL the provider's topology file (NCCL_TOPO_FILE)")})};
  }
  if (!inventory.virtual_machine) return {ok("", "not a virtual machine", evidence)};
  if (inventory.gpus.empty() && inventory.nics.empty()) {
    return {ok("", "a virtual machine without GPUs and RDMA NICs", evidence)};
  }
  return {ok("", "a virtual machine: set ACS, IOMMU and ATS on its host", evidence)};
}

}  // namespace virtualisation_check

const Check kVirtualisation{"virtualisation",
                            Area::kPcie,
                            "Virtual machine or not",
                            virtualisation_check::kExplanation,
                            45,
                            Cost::kPassive,
                            virtualisation_check::find};

}  // namespace gdr::doctor
