// Do all functions on a path use the same payload size?
#include <algorithm>

#include "doctor/checks/all.h"
#include "doctor/checks/gather.h"
#include "doctor/checks/pairs.h"
#include "doctor/checks/pcie/configuration.h"
#include "doctor/host.h"

namespace gdr::doctor {
namespace max_payload_check {

constexpr const char* kExplanation =
    "A PCIe function treats a packet larger than its Max_Payload_Size (bits 7:5 of Device Control) "
    "as malformed, an uncorrectable error, and switches do not split packets. So all functions "
    "between a GPU and its root port, between a NIC and its root port, and between both if they "
    "share a switch, need the same size. The BIOS sets it; devices added later may differ. "
    "pci=pcie_bus_safe on the kernel command line makes the kernel set the largest size that all "
    "support.";

struct Odd {
  const host::PciFunction* one = nullptr;
  const host::PciFunction* other = nullptr;
};

// The first two neighbours that differ; functions whose size is not known are passed over.
Odd odd_pair(const std::vector<const host::PciFunction*>& way) {
  const host::PciFunction* last = nullptr;
  for (const host::PciFunction* function : way) {
    if (!function->max_payload || settings_are_elsewhere(*function)) continue;
    if (last && *last->max_payload != *function->max_payload) return {last, function};
    last = function;
  }
  return {};
}

// From the GPU to the NIC through the switch, and then from each on to its root port.
Odd odd_pair(const host::PciTree& tree, const Pair& pair) {
  const host::PciFunction &gpu = *pair.gpu->pci, &nic = *pair.nic->pci;
  for (const host::PciFunction* end : {&gpu, &nic}) {
    std::vector<const host::PciFunction*> way = {end};
    for (const host::PciFunction* bridge : tree.above(*end)) way.push_back(bridge);
    if (const Odd odd = odd_pair(way); odd.one) return odd;
  }
  if (!pair.below_switch()) return {};
  return odd_pair({&gpu, &nic});
}

std::string size_of(const host::PciFunction& function) {
  return std::to_string(*function.max_payload) + " bytes";
}

Finding judge(const host::PciTree& tree, const Pair& pair) {
  Finding finding;
  finding.subject = subject_of(pair);
  const Odd odd = odd_pair(tree, pair);
  if (!odd.one) {
    finding.summary = "same payload size on the whole path";
    finding.evidence = {{config_of(*pair.gpu->pci) + ", Device Control", size_of(*pair.gpu->pci)},
                        {config_of(*pair.nic->pci) + ", Device Control", size_of(*pair.nic->pci)}};
    return finding;
  }
  finding.outcome = Outcome::kFail;
  finding.summary = odd.one->address + " accepts payloads of " + size_of(*odd.one) + ", " +
                    odd.other->address + " of " + size_of(*odd.other);
  finding.evidence = {{config_of(*odd.one) + ", Device Control", size_of(*odd.one)},
                      {config_of(*odd.other) + ", Device Control", size_of(*odd.other)}};
  finding.consequence =
      "If a packet is too large for the next function, the device gets a fatal PCIe error.";
  finding.fix.for_good = to_do(
      "add pci=pcie_bus_safe to the kernel command line and reboot; or set one Max Payload Size "
      "for all slots in the BIOS");
  return finding;
}

Findings find(const Host& host) {
  // A hypervisor answers for this register.
  if (host.inventory.virtual_machine) return does_not_apply("a virtual machine");
  Gathered gathered("GPU-NIC pairs");
  std::string unread;
  for (const GpuPairs& gpu : pairs_of(host.inventory)) {
    for (const Pair& pair : gpu.pairs) {
      if (settings_are_elsewhere(*pair.nic->pci)) continue;
      if (pair.gpu->pci->max_payload && pair.nic->pci->max_payload) {
        gathered.add(judge(host.inventory.pci, pair), pair.nic->pci->address);
      } else {
        unread = pair.nic->pci->address;
      }
    }
  }
  Findings findings = gathered.take(why_no_pairs(host.inventory));
  if (!unread.empty()) findings.push_back(not_readable(host, "the payload size", unread));
  return findings;
}

}  // namespace max_payload_check

const Check kMaxPayload{"max-payload",
                        Area::kPcie,
                        "One PCIe payload size between GPUs, NICs and their root ports",
                        max_payload_check::kExplanation,
                        66,
                        Cost::kPassive,
                        max_payload_check::find};

}  // namespace gdr::doctor
