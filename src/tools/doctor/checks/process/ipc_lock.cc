// IPC_LOCK of a Kubernetes pod: is it in its YAML, and does it reach this process?
#include <charconv>

#include "doctor/checks/all.h"
#include "doctor/checks/process/capabilities.h"
#include "doctor/checks/process/limits.h"
#include "doctor/evidence.h"
#include "doctor/host.h"

namespace gdr::doctor {
namespace ipc_lock_check {

constexpr const char* kExplanation =
    "Kubernetes sets no locked-memory limit: a pod inherits containerd's on the node, 8 MiB by "
    "default. Guides recommend the capability IPC_LOCK in the container's securityContext, which "
    "makes the kernel ignore the limit. But it helps only programs that run as root: in a "
    "container with another user it stays in the bounding set (CapBnd) and never becomes effective "
    "(CapEff) (measured in NVIDIA/nvidia-container-toolkit issue 2037). The check reads CapEff, "
    "CapBnd and the limit of this process.";

constexpr const char* kConsequence =
    "Registering more than the limit fails with ENOMEM, and NCCL falls back to TCP.";
constexpr const char* kRaiseLimit =
    "sudo mkdir -p /etc/systemd/system/containerd.service.d\n"
    "printf '[Service]\\nLimitMEMLOCK=infinity\\n' | sudo tee "
    "/etc/systemd/system/containerd.service.d/95-gdrkit.conf\n"
    "sudo systemctl daemon-reload && sudo systemctl restart containerd";
constexpr const char* kOnTheNode = "run this on the node, not in the pod; then restart the pod";

bool in_pod(const Host& host) {
  return host.files.exists("var/run/secrets/kubernetes.io") ||
         host.files.line("proc/self/cgroup").find("kubepods") != std::string::npos ||
         host.environment.contains("KUBERNETES_PORT");
}

// "CapBnd:\t00000000a80465fb"
std::optional<std::uint64_t> bounding_set(const host::Files& files) {
  for (const std::string& line : files.lines_with("proc/self/status", "CapBnd:")) {
    const auto begin = line.find_first_not_of(" \t", line.find(':') + 1);
    if (begin == std::string::npos) continue;
    std::uint64_t mask = 0;
    const auto read = std::from_chars(line.data() + begin, line.data() + line.size(), mask, 16);
    if (read.ec == std::errc()) return mask;
  }
  return std::nullopt;
}

Findings find(const Host& host) {
  if (!in_pod(host)) return does_not_apply("not in a Kubernetes pod");
  const MemoryLimit limit = read_memory_limit(host.files, "proc/self");
  const auto effective = effective_capabilities(host.files);
  Evidences evidence = {{"/proc/self/limits, Max locked memory", limit.text()}};
  if (limit.known && limit.unlimited) {
    return {ok("", "locked memory is unlimited, so IPC_LOCK is not needed", std::move(evidence))};
  }
  if (!effective) {
    return {unknown("", "cannot see the capabilities of this process", std::move(evidence),
                    to_type("grep Cap /proc/self/status"))};
  }
  const bool has = has_capability(*effective, kCapIpcLock);
  evidence.push_back({"/proc/self/status, CapEff", has ? "has IPC_LOCK" : "lacks IPC_LOCK"});
  if (has) return {ok("", "IPC_LOCK is effective", std::move(evidence))};
  const auto bounding = bounding_set(host.files);
  if (!bounding) {
    return {warn("", "IPC_LOCK is not effective in this pod", std::move(evidence), kConsequence,
                 {{}, to_type(kRaiseLimit, kOnTheNode)})};
  }
  const bool granted = has_capability(*bounding, kCapIpcLock);
  evidence.push_back({"/proc/self/status, CapBnd", granted ? "has IPC_LOCK" : "lacks IPC_LOCK"});
  if (granted) {
    return {warn("", "the pod has IPC_LOCK, but it works for root only", std::move(evidence),
                 kConsequence, {{}, to_type(kRaiseLimit, kOnTheNode)})};
  }
  return {warn("", "the container's YAML lacks IPC_LOCK", std::move(evidence), kConsequence,
               {to_do("if the container runs as root, add to its YAML: securityContext: "
                      "{capabilities: {add: [\"IPC_LOCK\"]}}"),
                to_type(kRaiseLimit, kOnTheNode)})};
}

}  // namespace ipc_lock_check

const Check kIpcLock{"ipc-lock",
                     Area::kProcess,
                     "IPC_LOCK of a Kubernetes pod",
                     ipc_lock_check::kExplanation,
                     51,
                     Cost::kPassive,
                     ipc_lock_check::find};

}  // namespace gdr::doctor
