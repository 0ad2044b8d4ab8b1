// X10: a virtual machine sees what its hypervisor shows.
#include "doctor/checks/all.h"
#include "doctor/evidence.h"
#include "doctor/host.h"

namespace gdr::doctor {
namespace {

constexpr const char* kExplanation =
    "In a virtual machine the PCI tree may be the hypervisor's invention, and ACS, IOMMU and link "
    "settings are the host's: changing them inside does nothing, or breaks the isolation that the "
    "host counts on, and how near a GPU and a NIC are cannot be seen. For transfers between "
    "passed-through devices the host has to switch on ATS "
    "of the NIC and direct translated requests on its port. A guest is known by the processor's "
    "hypervisor flag, /sys/hypervisor, the names in DMI or the device tree, and PCI functions that "
    "hypervisors emulate; where GPUs or NICs sit right on a root bus, where no PCI Express device "
    "can, the tree is made up.";

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
       inventory.virtual_machine ? sign_of(inventory) : "no sign of a hypervisor"},
      read_line(host.files, "sys/class/dmi/id/product_name")};
  if (inventory.flat) {
    return {warn("", "a virtual machine whose PCI tree is flat", evidence,
                 "How near a GPU and a NIC are cannot be seen here; grades are unreliable.",
                 {to_type("gdr perf", "measures them"),
                  to_do("give NCCL the provider's description (NCCL_TOPO_FILE)")})};
  }
  if (!inventory.virtual_machine) return {ok("", "not a virtual machine", evidence)};
  if (inventory.gpus.empty() && inventory.nics.empty()) {
    return {ok("", "a virtual machine without GPUs and RDMA NICs", evidence)};
  }
  return {ok("", "a virtual machine: ACS, IOMMU and ATS are its host's to set", evidence)};
}

}  // namespace

const Check kVirtualisation{
    "virtualisation", Area::kPcie, "Virtual machine or not", kExplanation, 45,
    Cost::kPassive,   find};

}  // namespace gdr::doctor
