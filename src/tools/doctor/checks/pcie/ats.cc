// Does the NIC translate addresses where it must, and not where it should not?
#include "doctor/checks/all.h"
#include "doctor/checks/gather.h"
#include "doctor/checks/pairs.h"
#include "doctor/checks/pcie/configuration.h"
#include "doctor/evidence.h"
#include "doctor/host.h"

namespace gdr::doctor {
namespace ats_check {

constexpr const char* kExplanation =
    "With Address Translation Services a device asks the IOMMU once for an address and then uses "
    "the translated one, which switches may route directly to a peer. A NIC in a virtual machine "
    "needs it for GPUDirect RDMA; without it all transfers go up to the host's IOMMU and back. "
    "Bare metal does not need it; rdma_topo treats the capability as a sign that the host was set "
    "up for virtual machines. It is a setting of the NIC's firmware (mlxconfig ATS_ENABLED) and "
    "needs a reboot of the host. The host also decides whether the switch passes translated "
    "requests (ACS Direct Translated P2P).";

// The evidence; `absent`: the words for a missing capability.
Finding finding_of(const host::Nic& nic, const char* absent) {
  const auto& ats = nic.pci->ats;
  Finding finding;
  finding.subject = label(nic);
  finding.evidence = {{config_of(*nic.pci) + ", Address Translation Services", !ats ? absent
                                                                               : ats->enabled
                                                                                   ? "on"
                                                                                   : "off"}};
  return finding;
}

Finding on_bare_metal(const host::Nic& nic) {
  Finding finding = finding_of(nic, "not there");
  const auto& ats = nic.pci->ats;
  if (!ats || !ats->enabled) {
    finding.summary = "address translation by the NIC is off, right for bare metal";
    return finding;
  }
  finding.outcome = Outcome::kWarn;
  finding.summary = "address translation by the NIC is on, but bare metal does not need it";
  finding.consequence =
      "Transfers may wait for translations. Leave it on if virtual machines use this NIC.";
  finding.fix.for_good =
      to_type(text::Command::of_each("sudo mlxconfig -d {} set ATS_ENABLED=false"), "then reboot");
  return finding;
}

Finding in_guest(const host::Nic& nic) {
  Finding finding = finding_of(nic, "not shown");
  const auto& ats = nic.pci->ats;
  if (ats && ats->enabled) {
    finding.summary = "address translation by the NIC is on, right for a virtual machine";
    return finding;
  }
  finding.outcome = ats ? Outcome::kWarn : Outcome::kUnknown;
  finding.summary = ats ? "address translation by the NIC is off"
                        : "cannot tell from this guest whether the NIC translates addresses";
  finding.consequence =
      "Without it transfers between GPU and NIC go through the host's IOMMU, at a fraction of the "
      "rate.";
  finding.fix.for_good =
      to_do("on the host, set ATS_ENABLED=true for this NIC with mlxconfig, then reboot the host");
  return finding;
}

Findings find(const Host& host) {
  const bool guest = host.inventory.virtual_machine;
  if (guest && host.inventory.gpus.empty()) return no_gpu();
  Gathered gathered("NICs");
  std::string unread;
  for (const host::Nic& nic : host.inventory.nics) {
    if (!nic.pci || (!guest && nic.pci->is_virtual_function)) continue;
    if (nic.pci->configuration_read || nic.pci->ats) {
      gathered.add(guest ? in_guest(nic) : on_bare_metal(nic), nic.pci->address);
    } else {
      unread = nic.pci->address;
    }
  }
  Findings findings = gathered.take("no RDMA NIC with a PCI function of its own");
  if (!unread.empty()) findings.push_back(not_readable(host, "address translation", unread));
  return findings;
}

}  // namespace ats_check

const Check kAddressTranslation{"ats",
                                Area::kPcie,
                                "PCIe Address Translation Services of NICs",
                                ats_check::kExplanation,
                                72,
                                Cost::kPassive,
                                ats_check::find};

}  // namespace gdr::doctor
