// X4: does each NIC ask for as much at once as it can?
#include "doctor/checks/all.h"
#include "doctor/checks/gather.h"
#include "doctor/checks/pairs.h"
#include "doctor/checks/pcie/configuration.h"
#include "doctor/host.h"

namespace gdr::doctor {
namespace {

constexpr unsigned kBest = 4096;

constexpr const char* kExplanation =
    "A NIC that sends reads GPU memory by requests of at most this many bytes (Max_Read_Request_"
    "Size, bits 14:12 of Device Control). With 512, the default after a reset, it needs eight "
    "times as many requests under way as with 4096, and many NICs have not enough of them to fill "
    "400 Gb/s. It can be changed while the NIC works. gdr fix max-read-request does so, shows the "
    "old value and can undo it; it is gone after a reset or a reboot unless persisted.";

Finding judge(const host::Nic& nic) {
  const unsigned size = *nic.pci->max_read_request;
  Finding finding;
  finding.subject = label(nic);
  finding.evidence = {{config_of(*nic.pci) + ", Device Control", std::to_string(size) + " bytes"}};
  if (size >= kBest) {
    finding.summary = "reads by 4096 bytes a request";
    return finding;
  }
  finding.outcome = Outcome::kWarn;
  finding.summary = "reads by " + std::to_string(size) + " bytes a request, and can by 4096";
  finding.consequence = "Sends of large messages may stay below the NIC's rate.";
  finding.fix = {by_gdr_fix("max-read-request", "sudo setpci -s {} CAP_EXP+8.w=5000:7000"),
                 by_gdr_fix_for_good("max-read-request")};
  return finding;
}

Findings find(const Host& host) {
  // A hypervisor answers for this register.
  if (host.inventory.virtual_machine) return does_not_apply("a virtual machine");
  Gathered gathered("NICs");
  std::string unread;
  for (const host::Nic& nic : host.inventory.nics) {
    if (!nic.pci || settings_are_elsewhere(*nic.pci)) continue;
    if (nic.pci->max_read_request) {
      gathered.add(judge(nic), nic.pci->address);
    } else {
      unread = nic.pci->address;
    }
  }
  Findings findings = gathered.take("no RDMA NIC with a PCI function of its own");
  if (!unread.empty()) findings.push_back(not_readable(host, "the read request size", unread));
  return findings;
}

}  // namespace

const Check kMaxReadRequest{
    "max-read-request", Area::kPcie, "NICs' PCIe read request size", kExplanation, 70,
    Cost::kPassive,     find};

}  // namespace gdr::doctor
