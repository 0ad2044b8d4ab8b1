// The locked-memory limit, here and in the services that start programs.
#include <utility>

#include "doctor/checks/all.h"
#include "doctor/checks/process/capabilities.h"
#include "doctor/checks/process/limits.h"
#include "doctor/container.h"
#include "doctor/evidence.h"
#include "doctor/host.h"

namespace gdr::doctor {
namespace locked_memory_check {

constexpr const char* kExplanation =
    "Registering host memory locks it. Beyond the locked-memory limit (ulimit -l, memlock) "
    "registration fails with ENOMEM. The check fails below 64 MiB and warns unless the limit is "
    "unlimited. It reads /proc/self/limits and the limits of containerd, dockerd, crio, kubelet, "
    "slurmd, pbs_mom and sshd, because a container, a batch job or a remote shell inherits its "
    "limits. Sessions of sshd get PAM's limits (/etc/security/limits.conf); services do not. "
    "CAP_IPC_LOCK lifts the limit for root; in a container that does not run as root it does "
    "nothing (nvidia-container-toolkit issue 2037).";

constexpr const char* kConsequence =
    "Registering more fails with ENOMEM; NCCL and MPI then fall back to TCP or stop.";

// The file is gdr fix's, with the same lines: limits of * do not hold for root.
Action for_sessions() {
  return by_gdr_fix_for_good(
      "locked-memory",
      text::Command(
          "printf '%s memlock unlimited\\n' '* soft' '* hard' 'root soft' 'root hard' | sudo tee "
          "/etc/security/limits.d/95-gdrkit.conf"));
}

Fix fix_of_shell(const Host& host) {
  if (is_container(host)) return {to_do("start the container with --ulimit memlock=-1"), {}};
  Fix fix{to_type("sudo prlimit --memlock=unlimited --pid $$"), for_sessions()};
  fix.for_good.note = "then log in again";
  return fix;
}

Fix fix_of_service(const std::string& name) {
  std::string unit = name;
  if (name == "dockerd") unit = "docker";
  if (name == "pbs_mom") unit = "pbs";
  if (name == "sshd") {
    return {to_type("sudo prlimit --memlock=unlimited --pid $(pgrep -o sshd)"), for_sessions()};
  }
  const std::string folder = "/etc/systemd/system/" + unit + ".service.d";
  Fix fix;
  fix.now =
      to_do("give each job or container its own limit, such as docker run --ulimit memlock=-1");
  fix.for_good = by_gdr_fix_for_good(
      "locked-memory",
      text::Command("sudo mkdir -p {}\nprintf '[Service]\\nLimitMEMLOCK=infinity\\n' | sudo tee {}",
                    folder, folder + "/95-gdrkit.conf"));
  const text::Command restart("sudo systemctl daemon-reload && sudo systemctl restart {}", unit);
  fix.for_good.command.then(restart);
  fix.for_good.by_hand.then(restart);
  fix.for_good.note = "the restart may end what " + unit + " runs";
  // One that gdr fix does not set.
  if (name == "pbs_mom") fix.for_good.command = std::exchange(fix.for_good.by_hand, {});
  return fix;
}

Finding judge(const std::string& subject, const std::string& process, const MemoryLimit& limit,
              Fix fix) {
  const Evidence evidence{"/" + process + "/limits, Max locked memory", limit.text()};
  const std::string summary = "locked memory: " + limit.text();
  if (!limit.known) return unknown(subject, "cannot see the locked-memory limit", {evidence});
  if (limit.unlimited) return ok(subject, summary, {evidence});
  if (!limit.enough()) {
    return fail(subject, summary + ", less than 64 MiB", {evidence}, kConsequence, std::move(fix));
  }
  return warn(subject, summary + ", not unlimited", {evidence}, kConsequence, std::move(fix));
}

Finding judge_self(const Host& host) {
  const MemoryLimit limit = read_memory_limit(host.files, "proc/self");
  Finding finding = judge("this process", "proc/self", limit, fix_of_shell(host));
  const auto capabilities = effective_capabilities(host.files);
  if (finding.outcome != Outcome::kFail || !capabilities ||
      !has_capability(*capabilities, kCapIpcLock)) {
    return finding;
  }
  // The kernel does not ask for the limit then; programs of other users are held to it.
  finding.outcome = Outcome::kWarn;
  finding.summary += "; CAP_IPC_LOCK lifts it for this process";
  finding.evidence.push_back({"/proc/self/status, CapEff", "CAP_IPC_LOCK"});
  finding.consequence = "Programs without that capability get ENOMEM beyond it.";
  return finding;
}

Findings find(const Host& host) {
  if (!shows(host.files, "proc/self")) {
    return {not_shown(host.files, "proc/self", "the locked-memory limit")};
  }
  Findings findings = {judge_self(host)};
  for (const Service& service : find_services(host.files)) {
    Finding finding =
        judge(service.name, service.process, service.limit, fix_of_service(service.name));
    if (service.name == "sshd" && finding.outcome != Outcome::kOk) {
      // Its own limit is not what its sessions get where PAM gives them another.
      if (pam_lifts_memory_limit(host.files)) {
        finding =
            ok(service.name, "locked memory of its sessions: unlimited, by PAM", finding.evidence);
      } else if (finding.outcome == Outcome::kFail) {
        finding.outcome = Outcome::kWarn;  // PAM may say otherwise for some users
      }
    }
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace locked_memory_check

const Check kLockedMemory{"locked-memory",
                          Area::kProcess,
                          "Locked-memory limit",
                          locked_memory_check::kExplanation,
                          50,
                          Cost::kPassive,
                          locked_memory_check::find};

}  // namespace gdr::doctor
