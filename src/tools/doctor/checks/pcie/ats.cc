// X6: does the NIC translate addresses by itself, where it must and where it should not?
#include "doctor/checks/all.h"
#include "doctor/checks/gather.h"
#include "doctor/checks/pairs.h"
#include "doctor/checks/pcie/configuration.h"
#include "doctor/evidence.h"
#include "doctor/host.h"

namespace gdr::doctor {
namespace {

constexpr const char* kExplanation =
    "With Address Translation Services a device asks the IOMMU once for an address and then uses "
    "the "
    "translated one, which switches may route straight to a peer. A NIC given to a virtual machine "
    "needs it for GPUDirect RDMA: without, all goes up to the IOMMU of the host and back. On bare "
    "metal nothing needs it; rdma_topo takes the capability for a sign that the host was set up "
    "for virtual machines. It is a setting of the NIC's firmware (mlxconfig ATS_ENABLED) that "
    "takes "
    "a restart of the host. Whether the switch lets translated requests pass (ACS Direct "
    "Translated P2P) is the host's to say.";

// What is read of it; `absent`: what a capability that is not there is called.
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
    finding.summary = "address translation by the NIC is off, as it should be on bare metal";
    return finding;
  }
  finding.outcome = Outcome::kWarn;
  finding.summary = "address translation by the NIC is on, which bare metal does not need";
  finding.consequence =
      "Transfers may wait for translations; it is right where virtual machines use this NIC.";
  finding.fix.for_good = to_type("sudo mlxconfig -d {} set ATS_ENABLED=false", "then reboot");
  return finding;
}

Finding in_guest(const host::Nic& nic) {
  Finding finding = finding_of(nic, "not shown");
  const auto& ats = nic.pci->ats;
  if (ats && ats->enabled) {
    finding.summary = "address translation by the NIC is on, as a virtual machine needs it";
    return finding;
  }
  finding.outcome = ats ? Outcome::kWarn : Outcome::kUnknown;
  finding.summary = ats ? "address translation by the NIC is off"
                        : "this guest does not see whether the NIC translates addresses";
  finding.consequence =
      "Without it transfers between GPU and NIC go by the host's IOMMU, at a fraction of the rate.";
  finding.fix.for_good = to_do(
      "on the host set ATS_ENABLED=true with mlxconfig, at the NIC's address there, and reboot it");
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

}  // namespace

const Check kAddressTranslation{
    "ats",          Area::kPcie, "PCIe Address Translation Services of NICs", kExplanation, 72,
    Cost::kPassive, find};

}  // namespace gdr::doctor
