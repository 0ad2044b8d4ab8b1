// Do the ports between GPU and NIC send transfers up to the CPU and back?
#include <fmt/format.h>

#include <algorithm>

#include "doctor/checks/all.h"
#include "doctor/checks/gather.h"
#include "doctor/checks/pairs.h"
#include "doctor/checks/pcie/configuration.h"
#include "doctor/host.h"
#include "host/access_control.h"
#include "host/special_layout.h"

namespace gdr::doctor {
namespace acs_check {

using host::AccessControl;
using host::PciFunction;

constexpr const char* kExplanation =
    "Access Control Services can make a PCIe switch send transfers between two devices below it up "
    "to the root port and back, so that an IOMMU sees them. This costs about half the bandwidth, "
    "on some CPUs more. The check judges the downstream ports on both legs between a GPU and a NIC "
    "that share a switch: request redirect, completion redirect and egress control must be off "
    "there. Other bits, other ports and root ports do no harm, and virtual machines need their "
    "protection. So clear these bits on exactly these ports (gdr fix acs), and never with a fixed "
    "offset on all ports. The kernel may set them again after a reset or a hot-plug. For a virtual "
    "machine the host's ports matter, and they must keep ACS. On Grace and ConnectX-8 layouts "
    "other bits are right: see rdma_topo of rdma-core.";

struct Judged {
  std::vector<const PciFunction*> ports, redirecting;
  std::string unread;
};

// Judges a pair below one switch; all its ports count.
Judged judge_ports(const host::PciTree& tree, const Pair& pair) {
  Judged judged;
  for (const host::PortOnPath& on_path :
       host::ports_between(tree, *pair.gpu->pci, *pair.nic->pci)) {
    const PciFunction* port = tree.find(on_path.address);
    if (port == nullptr || on_path.judgement == host::PortJudgement::kUnknown) {
      judged.unread = on_path.address;
      continue;
    }
    judged.ports.push_back(port);
    if (on_path.judgement == host::PortJudgement::kRedirects) judged.redirecting.push_back(port);
  }
  return judged;
}

Evidence evidence_of(const PciFunction& port) {
  if (!port.acs) return {config_of(port) + ", ACS", "capability not present"};
  return {config_of(port) + ", ACS control", fmt::format("{:#06x}", port.acs->effective())};
}

Finding redirected(const Pair& pair, const std::vector<const PciFunction*>& ports,
                   std::vector<std::string>& devices) {
  Finding finding;
  finding.subject = subject_of(pair);
  finding.outcome = Outcome::kFail;
  std::uint16_t bits = 0;
  for (const PciFunction* port : ports) {
    bits |= static_cast<std::uint16_t>(port->acs->effective() & AccessControl::kRedirects);
    devices.push_back(port->address);
    finding.evidence.push_back(evidence_of(*port));
  }
  finding.summary = host::names_of_access_control(bits) + " set at {}";
  finding.consequence =
      "Transfers between GPU and NIC go up to the root port and back: about half the bandwidth.";
  finding.fix = {
      by_gdr_fix("acs", text::Command::of_each("sudo setpci -s {} ECAP_ACS+6.w=0000:002c")),
      by_gdr_fix_for_good("acs")};
  return finding;
}

Finding well(const Pair& pair, const Judged& judged) {
  Finding finding;
  finding.subject = subject_of(pair);
  finding.summary = "no port between GPU and NIC redirects";
  for (const PciFunction* port : judged.ports) finding.evidence.push_back(evidence_of(*port));
  return finding;
}

// One finding for what is wrong with a GPU's ways; another NIC's only where the best one is well.
void judge(const Host& host, const GpuPairs& gpu, Gathered& gathered, std::string& unread) {
  if (!gpu.pairs.front().below_switch()) {
    Finding finding;
    finding.subject = subject_of(gpu.pairs.front());
    finding.summary = "GPU and NIC share no switch, so ACS does not matter";
    gathered.add(std::move(finding), "");
    return;
  }
  const Pair* first = nullptr;
  std::vector<const PciFunction*> redirecting;
  for (const Pair& pair : gpu.pairs) {
    const Judged judged = judge_ports(host.inventory.pci, pair);
    if (!judged.unread.empty()) {
      unread = judged.unread;
    } else if (judged.redirecting.empty() && &pair == &gpu.pairs.front()) {
      gathered.add(well(pair, judged), "");
    }
    for (const PciFunction* port : judged.redirecting) {
      if (!first) first = &pair;
      if (std::ranges::find(redirecting, port) == redirecting.end()) redirecting.push_back(port);
    }
  }
  if (!first) return;
  std::vector<std::string> devices;
  Finding finding = redirected(*first, redirecting, devices);
  gathered.add(std::move(finding), devices);
}

Finding in_guest() {
  Finding finding;
  finding.outcome = Outcome::kUnknown;
  finding.summary = "the host's ports matter here, but a virtual machine does not see them";
  finding.consequence =
      "There ACS must stay on, with Direct Translated P2P on the NIC's port and ATS in the NIC.";
  finding.fix.now = to_type("sudo rdma_topo check", "on the host; part of rdma-core 61 or later");
  return finding;
}

Finding special(const std::string& layout) {
  Finding finding;
  finding.outcome = Outcome::kUnknown;
  finding.summary = "a layout with its own rules (" + layout + "): gdr does not judge its ports";
  finding.consequence = "Clearing all redirection is wrong on some of these layouts.";
  finding.fix.now = to_type("sudo rdma_topo check", "of rdma-core 61 or later");
  return finding;
}

Findings find(const Host& host) {
  const auto gpus = pairs_of(host.inventory);
  if (std::ranges::all_of(gpus, [](const GpuPairs& gpu) { return gpu.pairs.empty(); })) {
    return does_not_apply(why_no_pairs(host.inventory));
  }
  if (host.inventory.virtual_machine || host.inventory.flat) return {in_guest()};
  const std::string layout = host::special_layout(host.inventory.pci);
  if (!layout.empty()) return {special(layout)};
  Gathered gathered("GPU-NIC pairs");
  std::string unread;
  for (const GpuPairs& gpu : gpus) {
    if (!gpu.pairs.empty()) judge(host, gpu, gathered, unread);
  }
  Findings findings = gathered.take();
  if (!unread.empty()) findings.push_back(not_readable(host, "ACS of the ports between", unread));
  return findings;
}

}  // namespace acs_check

const Check kAccessControl{"acs",
                           Area::kPcie,
                           "PCIe Access Control Services on the ports between GPUs and NICs",
                           acs_check::kExplanation,
                           60,
                           Cost::kPassive,
                           acs_check::find};

}  // namespace gdr::doctor
