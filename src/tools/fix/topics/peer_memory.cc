// gdr fix peer-memory: the module that lets a NIC's driver pin GPU memory, where dma-buf cannot.
// host/registration decides what is needed and what prevents it, as for gdr doctor.
#include "fix/changes/module.h"
#include "fix/changes/text_file.h"
#include "fix/topics/topics.h"
#include "host/registration/peer_memory_plan.h"

namespace gdr::fix {
namespace {

using host::Loading;
using host::PeerMemoryPlan;
using host::Tri;

std::string why_no_driver(const host::Inventory& inventory) {
  if (!inventory.gpus.empty()) return "the NVIDIA driver is not loaded; install or load it first";
  if (!host::has_amd_gpu(inventory)) return "no NVIDIA GPU here";
  return "the GPUs here are from AMD; NVIDIA's modules do not serve them, and gdr does not set up "
         "AMD's";
}

void persist(const Situation& situation, const std::string& module, const std::string& root,
             Proposal& proposal) {
  const host::Files& files = situation.machine.files;
  if (!root.empty()) {
    proposal.notes.push_back("The driver below /" + root +
                             " loads its modules itself; set driver.rdma.enabled=true in the GPU "
                             "operator to load this one at boot.");
    return;
  }
  for (const std::string& name : files.entries("etc/modules-load.d")) {
    if (name == "gdrkit.conf") continue;
    if (!files.lines_with("etc/modules-load.d/" + name, module).empty()) return;
  }
  proposal.propose(written_file(situation.machine, kModulesFile, file_text({module})));
}

void refuse(const PeerMemoryPlan& plan, Proposal& proposal) {
  const host::Advice& advice = plan.advice;
  if (advice.command.empty()) {
    proposal.refusals.push_back(plan.reason + ": " + advice.note);
    return;
  }
  proposal.refusals.push_back(plan.reason);
  proposal.say_to_type(advice.command,
                       advice.note.empty() ? "then run gdr fix again" : advice.note);
}

// Why nothing is to be done where nobody asked for the module by its name; empty: it is wanted.
std::string not_needed(const PeerMemoryPlan& plan) {
  const std::string all_the_same = "'gdr fix peer-memory' loads the module anyway";
  if (plan.needed == Tri::kNo) {
    return "not needed: the kernel and the open GPU driver support dma-buf ('gdr prove' tries "
           "it); " +
           all_the_same;
  }
  if (plan.needed == Tri::kYes || plan.loading == Loading::kLoaded) return {};
  return "cannot tell whether it is needed (" + plan.ways.why_no_dma_buf + "); " + all_the_same;
}

}  // namespace

void plan_peer_memory(const Situation& situation, Proposal& proposal) {
  host::PlanOptions options;
  options.driver_root = situation.wishes.driver_root;
  const PeerMemoryPlan plan =
      host::plan_peer_memory(situation.machine.files, situation.inventory, options);
  if (!plan.read.driver_loaded) {
    proposal.nothing = why_no_driver(situation.inventory);
    return;
  }
  if (!situation.wishes.named(proposal.topic)) proposal.nothing = not_needed(plan);
  if (!proposal.nothing.empty()) return;
  const bool loaded = plan.loading == Loading::kLoaded;
  if (loaded && !situation.wishes.persist) {
    proposal.nothing = "a peer-memory module is loaded";
    return;
  }
  if (plan.loading == Loading::kCannot) {
    refuse(plan, proposal);
    return;
  }
  const std::string module = plan.installed.name();
  if (!loaded) proposal.propose(loaded_module(module, plan.installed.root));
  if (situation.wishes.persist && !module.empty()) {
    persist(situation, module, plan.installed.root, proposal);
  }
  if (plan.installed.both) {
    proposal.notes.push_back(
        "nvidia-peermem and nv_peer_mem are both installed, but only one may be loaded; remove "
        "nv_peer_mem.");
  }
  if (plan.needed == Tri::kNo) {
    proposal.notes.push_back("Programs that use dma-buf do not need this module.");
  }
  if (proposal.changes.empty() && proposal.refusals.empty()) {
    proposal.nothing = "a peer-memory module is loaded, also at each boot";
  }
}

}  // namespace gdr::fix
