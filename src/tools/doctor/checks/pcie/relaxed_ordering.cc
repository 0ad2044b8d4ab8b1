// May a NIC's writes pass each other?
#include "doctor/checks/all.h"
#include "doctor/checks/gather.h"
#include "doctor/checks/pairs.h"
#include "doctor/checks/pcie/configuration.h"
#include "doctor/host.h"

namespace gdr::doctor {
namespace relaxed_ordering_check {

constexpr const char* kExplanation =
    "With relaxed ordering a write need not wait for earlier ones. Without it one delayed write "
    "delays all: on AMD CPUs and in virtual machines NICs then stay far below their rate. Three "
    "settings must allow it: the PCI function (bit 4 of Device Control, judged here), the firmware "
    "(mlxconfig PCI_WR_ORDERING: per_mkey or force_relax), and the program for its memory "
    "(NCCL_IB_PCI_RELAXED_ORDERING, UCX_IB_PCI_RELAXED_ORDERING, perftest by default). The kernel "
    "clears the first below root ports that are known to break it.";

bool is_amd(const Host& host) {
  return host.files.text("proc/cpuinfo").find("AuthenticAMD") != std::string::npos;
}

Finding judge(const host::Nic& nic, bool matters) {
  Finding finding;
  finding.subject = label(nic);
  const bool on = *nic.pci->relaxed_ordering;
  finding.evidence = {
      {config_of(*nic.pci) + ", Device Control", on ? "relaxed ordering on" : "off"}};
  if (on || !matters) {
    finding.summary =
        on ? "relaxed ordering is on" : "relaxed ordering is off, which costs little on this CPU";
    return finding;
  }
  finding.outcome = Outcome::kWarn;
  finding.summary = "relaxed ordering is off";
  finding.consequence = "Each write waits for earlier ones: receives may stay far below the rate.";
  finding.fix = {to_type(text::Command::of_each("sudo setpci -s {} CAP_EXP+8.w=10:10")),
                 to_do("switch PCIe relaxed ordering on in the BIOS")};
  return finding;
}

// The programs' own switches: off there, the function's bit does not matter.
void judge_environment(const Host& host, Gathered& gathered) {
  for (const char* name : {"NCCL_IB_PCI_RELAXED_ORDERING", "UCX_IB_PCI_RELAXED_ORDERING"}) {
    const auto found = host.environment.find(name);
    if (found == host.environment.end()) continue;
    const std::string& value = found->second;
    if (value != "0" && value != "off" && value != "n" && value != "no") continue;
    Finding finding;
    finding.outcome = Outcome::kWarn;
    finding.subject = name;
    finding.summary = "the environment switches relaxed ordering off";
    finding.evidence = {{"environment", std::string(name) + "=" + value}};
    finding.consequence = "Each write waits for earlier ones.";
    finding.fix.now = to_type(text::Command::of_each("unset {}"));
    gathered.add(std::move(finding), name);
  }
}

Findings find(const Host& host) {
  Gathered gathered("NICs");
  const bool matters = host.inventory.virtual_machine || is_amd(host);
  std::string unread;
  bool any = false;
  for (const host::Nic& nic : host.inventory.nics) {
    if (!nic.pci) continue;
    any = true;
    if (settings_are_elsewhere(*nic.pci)) continue;
    if (nic.pci->relaxed_ordering) {
      gathered.add(judge(nic, matters), nic.pci->address);
    } else {
      unread = nic.pci->address;
    }
  }
  if (matters && any) judge_environment(host, gathered);
  Findings findings = gathered.take("no RDMA NIC with a PCI function of its own");
  if (!unread.empty()) findings.push_back(not_readable(host, "relaxed ordering", unread));
  return findings;
}

}  // namespace relaxed_ordering_check

const Check kRelaxedOrdering{"relaxed-ordering",
                             Area::kPcie,
                             "PCIe relaxed ordering of NICs",
                             relaxed_ordering_check::kExplanation,
                             74,
                             Cost::kPassive,
                             relaxed_ordering_check::find};

}  // namespace gdr::doctor
