// P3: why the peer-memory module does not load.
#include "doctor/checks/all.h"
#include "doctor/checks/registration/ways.h"
#include "doctor/kernel_log.h"

namespace gdr::doctor {
namespace {

constexpr const char* kExplanation =
    "modprobe nvidia-peermem says 'Invalid argument' and no more where the module was built "
    "without the RDMA stack's symbols. This check looks for the causes one after the other: the "
    "kernel has no ib_register_peer_memory_client (in /proc/kallsyms and modules.symbols), so "
    "there is nothing to register with; modules.dep has the module without ib_core, so the driver "
    "was built before the RDMA stack; the kernel's log has 'disagrees about version of symbol', so "
    "the RDMA stack changed under it; the driver lives in a container, so the host's modprobe does "
    "not find it; the kernel takes signed modules only. Where dma-bufs work, none of this matters.";

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
      return fail("", "nvidia_peermem has no signature that this kernel takes",
                  {{"kernel log", line}}, kConsequence, {{}, sign_the_module()});
    }
  }
  return std::nullopt;
}

// What can be seen before it is tried.
Finding from_plan(const Ways& ways) {
  const host::PeerMemoryPlan& plan = ways.plan;
  Evidences evidence = ways.evidence;
  if (!plan.installed.line.empty()) evidence.push_back({"modules.dep", plan.installed.line});
  if (plan.wants_rdma_driver) {
    Action action = action_of(plan.advice);
    action.command += "\ngdr doctor --only peer-memory-loading";
    return unknown("", "whether the module can load is not known: " + plan.reason,
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
  if (ways.dma_buf != Tri::kNo) return does_not_apply("dma-buf may serve in its place");
  const bool possible = ways.plan.ways.peer_memory != Tri::kNo;
  if (possible) {
    if (auto found = from_log(host, ways)) return {*std::move(found)};
  }
  if (ways.plan.loading == host::Loading::kCannot) return {from_plan(ways)};
  const std::string lockdown = host.files.line(kLockdown);
  if (lockdown.find("[integrity]") != std::string::npos ||
      lockdown.find("[confidentiality]") != std::string::npos) {
    return {warn("", "the kernel is locked down: it takes signed modules only",
                 {{std::string("/") + kLockdown, lockdown}},
                 ways.plan.installed.name() + " loads only where it is signed.",
                 {{}, sign_the_module()})};
  }
  Evidences evidence = ways.evidence;
  if (!host.kernel_log) evidence.push_back({"kernel log", "not permitted, or not captured"});
  return {
      ok("", "nothing speaks against loading " + ways.plan.installed.name(), std::move(evidence))};
}

}  // namespace

const Check kPeerMemoryLoading{"peer-memory-loading",
                               Area::kRegistration,
                               "Why the peer-memory module does not load",
                               kExplanation,
                               19,
                               Cost::kPassive,
                               find};

}  // namespace gdr::doctor
