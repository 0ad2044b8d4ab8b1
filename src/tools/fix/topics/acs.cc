// gdr fix acs: request redirect, completion redirect and egress control off at the downstream ports
// between a GPU and a NIC that no CPU separates, and nowhere else.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "fix/boot_parameters.h"
#include "fix/changes/access_control.h"
#include "fix/changes/text_file.h"
#include "fix/refusals.h"
#include "fix/topics/topics.h"
#include "host/access_control.h"
#include "host/grade.h"

namespace gdr::fix {
namespace {

using host::PciFunction;
using host::PciTree;
using host::PortJudgement;

struct Found {
  std::set<std::string> redirecting, unknown;
  unsigned pairs = 0;  // that no CPU separates
};

Found ports_of_pairs(const host::Inventory& inventory) {
  Found found;
  for (const host::Gpu& gpu : inventory.gpus) {
    for (const host::Nic& nic : inventory.nics) {
      if (!gpu.pci || !nic.pci) continue;
      const auto path = path_between(inventory.pci, *gpu.pci, *nic.pci);
      if (!path || *path > host::PciPath::kPxb) continue;
      ++found.pairs;
      for (const host::PortOnPath& port : ports_between(inventory.pci, *gpu.pci, *nic.pci)) {
        if (port.is_root_port || !port.decides) continue;
        if (port.judgement == PortJudgement::kRedirects) found.redirecting.insert(port.address);
        if (port.judgement == PortJudgement::kUnknown) found.unknown.insert(port.address);
      }
    }
  }
  return found;
}

// The first reason against the change: first about the machine, then about the port.
std::string refusal_of(const Situation& situation, const std::string& address) {
  const PciTree& tree = situation.inventory.pci;
  const PciFunction* port = tree.find(address);
  std::string reason = refused_in_guest(situation);
  if (reason.empty() && port == nullptr) reason = address + " is not in the PCI tree";
  if (reason.empty()) reason = refused_by_platform(tree);
  if (reason.empty()) reason = refused_by_assignment(situation.machine, tree, *port);
  return reason;
}

// Whether its register, which is read anew here, allows what the tree promised.
Result<AccessControlPort> read_port(const Situation& situation, const std::string& address,
                                    bool asked_for) {
  Result<AccessControlPort> port = read_access_control_port(situation.machine, address);
  if (!port || !port->is_root_port || asked_for) return port;
  return Error{ENOTSUP, address + " is a root port; name it with --port if you mean it"};
}

struct BootPlan {
  BootPorts ports;
  std::string refusal;
};

// Ports cleared now, ports cleared earlier in this boot, and ports in an existing file.
BootPlan boot_plan(const Situation& situation, const Proposal& proposal, const Value& file) {
  BootPlan plan;
  if (file) plan.ports = ports_of_grub_text(*file);
  const auto add = [&](const Record& record) {
    const auto control = read_register_text(record.new_value);
    const std::string form = path_form(record.path);
    if (control && !form.empty()) plan.ports[form] = boot_bits(*control);
  };
  for (const Entry& entry : situation.journal.entries) {
    const Record& record = entry.record;
    const bool made = entry.state == State::kDone && record.kind == kAccessControl;
    if (made && record.boot == situation.machine.boot && change_of(record)) add(record);
  }
  for (const Planned& planned : proposal.changes) {
    // Lockdown stands against writing now, and not against the kernel's own doing at boot.
    const std::string refusal = refusal_of(situation, planned.change->record().target);
    if (refusal.empty()) add(planned.change->record());
    if (!refusal.empty() && plan.refusal.empty()) plan.refusal = refusal;
  }
  return plan;
}

// The kernel uses the last of two such parameters on its command line.
std::string given_already(const Situation& situation, const Value& file) {
  const std::string line = situation.machine.files.line("proc/cmdline");
  for (const char* name : {"config_acs=", "disable_acs_redir="}) {
    if (!file && line.find(name) != std::string::npos) {
      return fmt::format(
          "the kernel's command line already has pci={}…, and only the last one counts; add the "
          "ports there",
          name);
    }
  }
  return {};
}

void persist(const Situation& situation, Proposal& proposal) {
  const Result<Value> file = read_own_file(situation.machine, kGrubFile);
  if (!file) {
    proposal.refusals.push_back(file.error().message);
    return;
  }
  const KernelVersion kernel = kernel_version(situation.machine.files);
  BootPlan plan = boot_plan(situation, proposal, *file);
  if (plan.ports.empty()) return;
  if (plan.refusal.empty()) plan.refusal = given_already(situation, *file);
  if (kernel < KernelVersion{4, 19})
    plan.refusal = "kernels before 4.19 do not have this parameter";
  const std::string parameter = boot_parameter(plan.ports, kernel);
  if (situation.machine.files.exists("etc/default/grub.d")) {
    proposal.propose(written_file(situation.machine, kGrubFile, file_text({grub_line(parameter)})),
                     plan.refusal);
    proposal.say_to_type(text::Command("sudo update-grub"), "then reboot");
  } else if (plan.refusal.empty()) {
    proposal.notes.push_back("There is no /etc/default/grub.d here: add pci=" + parameter +
                             " to the kernel's command line and reboot.");
    // GRUB takes a semicolon for the end of a command.
    if (parameter.find(';') == std::string::npos) {
      proposal.say_to_type(
          text::Command("sudo grubby --update-kernel=ALL --args=pci={}", parameter),
          "on Fedora, RHEL and similar; then reboot");
    }
  } else {
    proposal.refusals.push_back(plan.refusal);
  }
  proposal.notes.push_back(
      "Boot parameters take effect at the next boot. Then verify them with 'gdr doctor --only "
      "acs': kernels 6.11 and later misparse this list (commit 47c8846a49ba) unless they include "
      "\"PCI/ACS: Fix 'pci=config_acs=' parameter\". With these parameters GPU and NIC share one "
      "IOMMU group, so a guest can only be given both.");
}

void tell_nothing(const Situation& situation, const Found& found, Proposal& proposal) {
  if (!proposal.changes.empty() || !proposal.refusals.empty()) return;
  if (!situation.wishes.ports.empty()) {
    proposal.nothing = "it has no redirect";
  } else if (found.pairs == 0) {
    proposal.nothing = "no GPU shares a PCIe switch with a NIC here, so ACS has no effect";
  } else {
    proposal.nothing = "no port between a GPU and a NIC redirects traffic";
  }
}

}  // namespace

void plan_access_control(const Situation& situation, Proposal& proposal) {
  const bool asked_for = !situation.wishes.ports.empty();
  const Found found = asked_for ? Found() : ports_of_pairs(situation.inventory);
  std::set<std::string> ports(situation.wishes.ports.begin(), situation.wishes.ports.end());
  if (!asked_for) ports = found.redirecting;
  for (const std::string& address : found.unknown) {
    proposal.refusals.push_back("the ACS registers of " + address +
                                " cannot be read without root: sudo gdr fix acs");
  }
  const std::string lockdown = refused_by_lockdown(situation.machine);
  for (const std::string& address : ports) {
    const Result<AccessControlPort> port = read_port(situation, address, asked_for);
    std::string refusal = port ? refusal_of(situation, address) : std::string();
    if (refusal.empty()) refusal = lockdown;
    proposal.propose(port ? Result<Record>(without_redirects(*port)) : port.error(), refusal);
    if (port && port->is_root_port && !situation.inventory.virtual_machine) {
      proposal.notes.push_back(
          address +
          " is a root port: devices below it could reach devices below its neighbours without "
          "passing the IOMMU. A GPU does not need this to reach a NIC below the same switch.");
    }
  }
  if (!proposal.changes.empty()) {
    proposal.notes.push_back(
        "Measure before and after with gdr perf. The kernel may set the bits again after a reset, "
        "hot-plug, an error (AER, DPC) or resume. Meanwhile IOMMU groups look more isolated than "
        "they are: do not give a device below these ports to a guest.");
  }
  if (situation.wishes.persist) persist(situation, proposal);
  tell_nothing(situation, found, proposal);
}

}  // namespace gdr::fix
