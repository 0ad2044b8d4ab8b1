// Does each NIC use the largest read request that it supports?
#include "doctor/checks/all.h"
#include "doctor/checks/gather.h"
#include "doctor/checks/pairs.h"
#include "doctor/checks/pcie/configuration.h"
#include "doctor/host.h"

namespace gdr::doctor {
namespace max_read_request_check {

constexpr unsigned kBest = 4096;

constexpr const char* kExplanation =
    "A sending NIC reads GPU memory in requests of at most this many bytes (Max_Read_Request_Size, "
    "bits 14:12 of Device Control). With 512, the default after a reset, it needs eight times as "
    "many requests in flight as with 4096, and many NICs cannot keep enough in flight to fill 400 "
    "Gb/s. The size can be changed while the NIC works. gdr fix max-read-request does so, shows "
    "the old value and can undo it; a reset or a reboot clears it unless you persist it.";

Finding judge(const host::Nic& nic) {
  const unsigned size = *nic.pci->max_read_request;
  Finding finding;
  finding.subject = label(nic);
  finding.evidence = {{config_of(*nic.pci) + ", Device Control", std::to_string(size) + " bytes"}};
  if (size >= kBest) {
    finding.summary = "reads in requests of 4096 bytes";
    return finding;
  }
  finding.outcome = Outcome::kWarn;
  finding.summary =
      "reads by " + std::to_string(size) + " bytes per request, although it supports 4096";
  finding.consequence = "Sends of large messages may stay below the NIC's rate.";
  finding.fix = {by_gdr_fix("max-read-request",
                            text::Command::of_each("sudo setpci -s {} CAP_EXP+8.w=5000:7000")),
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

}  // namespace max_read_request_check

const Check kMaxReadRequest{"max-read-request",
                            Area::kPcie,
                            "NICs' PCIe read request size",
                            max_read_request_check::kExplanation,
                            70,
                            Cost::kPassive,
                            max_read_request_check::find};

}  // namespace gdr::doctor
