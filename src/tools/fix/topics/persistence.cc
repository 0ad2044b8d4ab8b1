// gdr fix persistence: GPUs stay initialised without a program that uses them.
#include "fix/changes/persistence.h"

#include "fix/topics/topics.h"

namespace gdr::fix {
namespace {

// Whether the daemon is proposed, which switches the mode on itself.
bool propose_daemon(const Situation& situation, Proposal& proposal) {
  const Result<bool> enabled = service_enabled(situation.machine);
  if (!enabled) {
    proposal.notes.push_back("nvidia-persistenced cannot keep the mode after a reboot: " +
                             enabled.error().message + ".");
    return false;
  }
  if (*enabled) return false;
  proposal.propose(enabled_service(situation.machine));
  return true;
}

}  // namespace

void plan_persistence(const Situation& situation, Proposal& proposal) {
  if (!situation.machine.is_live() && !situation.machine.run) {
    proposal.nothing = "a capture does not show it";
    return;
  }
  bool found = false;
  for (const host::Gpu& gpu : situation.inventory.gpus) {
    if (gpu.driver != "nvidia") continue;
    if (!found && situation.wishes.persist && propose_daemon(situation, proposal)) return;
    found = true;
    const Result<bool> on = persistence_mode(situation.machine, gpu.pci_address);
    if (!on) {
      proposal.refusals.push_back(on.error().message);
      return;
    }
    if (!*on) proposal.propose(with_persistence_mode(gpu.pci_address));
  }
  if (proposal.changes.empty()) {
    proposal.nothing = found ? "persistence mode is on" : "no GPU is bound to the NVIDIA driver";
  }
}

}  // namespace gdr::fix
