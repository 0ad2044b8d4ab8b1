// Why the peer-memory module does not load.
#include "doctor/checks/all.h"
#include "doctor/checks/registration/ways.h"
#include "doctor/kernel_log.h"

namespace gdr::doctor {
namespace peer_memory_loading_check {

constexpr const char* kExplanation =
    "modprobe nvidia-peermem only says 'Invalid argument' if the module was built without the RDMA "
    "stack's symbols. This check looks for the causes in turn: the kernel has no "
    "ib_register_peer_memory_client (in /proc/kallsyms and modules.symbols), so the module has "
    "nothing to register with; modules.dep lists the module without ib_core, so the driver was "
    "built before the RDMA stack; the kernel logged 'disagrees about version of symbol', so the "
    "RDMA stack changed after the build; the driver is in a container, so the host's modprobe does "
    "not find it; the kernel accepts only signed modules. If dma-buf works, none of this matters.";

constexpr const char* kLockdown = "sys/kernel/security/lockdown";
constexpr const char* kConsequence = "nvidia-peermem cannot be loaded.";

// The module was loaded, tried, and refused: the kernel says why.
std::optional<Finding> from_log(const Host& host, const Ways& ways) {
  for (const std::string& line : log_lines(host, "nvidia_peermem")) {
    if (line.find("disagrees about version of symbol") != std::string::npos ||
        line.find("Unknown symbol") != std::string::npos) {
      return fail("", "nvidia_peermem was built for another RDMA stack", {{"kernel log", line}},
                  kConsequence, fix_by(ways.plan.rebuild));
    }
    if (line.find("key was rejected") != std::string::npos ||
        line.find("module verification failed") != std::string::npos ||
        line.find("Required key not available") != std::string::npos) {
      return fail("", "nvidia_peermem has no signature that this kernel accepts",
                  {{"kernel log", line}}, kConsequence, {{}, sign_the_module()});
    }
  }
  return std::nullopt;
}

// Obstacles that are visible before loading.
Finding from_plan(const Ways& ways) {
  const host::PeerMemoryPlan& plan = ways.plan;
  Evidences evidence = ways.evidence;
  if (!plan.installed.line.empty()) evidence.push_back({"modules.dep", plan.installed.line});
  if (plan.wants_rdma_driver) {
    Action action = action_of(plan.advice);
    action.command.then(text::Command("gdr doctor --only peer-memory-loading"));
    return unknown("", "cannot tell whether the module can load: " + plan.reason,
                   std::move(evidence), std::move(action));
  }
  return fail("", plan.reason, std::move(evidence), "No peer-memory module can be loaded.",
              fix_of(ways));
}

Findings find(const Host& host) {
  if (host.inventory.gpus.empty()) return no_gpu();
  const Ways ways = find_ways(host);
  if (!ways.driver_loaded) return does_not_apply("the NVIDIA driver is not loaded");
  if (ways.peer_memory) return does_not_apply("a peer-memory module is loaded");
  if (ways.dma_buf != Tri::kNo) return does_not_apply("dma-buf may work instead");
  const bool possible = ways.plan.ways.peer_memory != Tri::kNo;
  if (possible) {
    if (auto found = from_log(host, ways)) return {*std::move(found)};
  }
  if (ways.plan.loading == host::Loading::kCannot) return {from_plan(ways)};
  const std::string lockdown = host.files.line(kLockdown);
  if (lockdown.find("[integrity]") != std::string::npos ||
      lockdown.find("[confidentiality]") != std::string::npos) {
    return {warn("", "the kernel is locked down and accepts only signed modules",
                 {{std::string("/") + kLockdown, lockdown}},
                 ways.plan.installed.name() + " loads only if it is signed.",
                 {{}, sign_the_module()})};
  }
  Evidences evidence = ways.evidence;
  if (!host.kernel_log) evidence.push_back({"kernel log", "no permission, or not captured"});
  return {ok("", "found nothing that prevents loading " + ways.plan.installed.name(),
             std::move(evidence))};
}

}  // namespace peer_memory_loading_check

const Check kPeerMemoryLoading{"peer-memory-loading",
                               Area::kRegistration,
                               "Why the peer-memory module does not load",
                               peer_memory_loading_check::kExplanation,
                               19,
                               Cost::kPassive,
                               peer_memory_loading_check::find};

}  // namespace gdr::doctor
