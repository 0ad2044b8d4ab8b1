// Tries registration instead of inferring it: registers memory of each GPU with the NICs near it,
// and moves bytes through it.
#include <algorithm>
#include <optional>

#include "base/clock.h"
#include "doctor/checks/all.h"
#include "doctor/checks/registration/pairings.h"
#include "doctor/checks/registration/ways.h"
#include "doctor/probes.h"
#include "text/format.h"

namespace gdr::doctor {
namespace registration_check {

constexpr const char* kExplanation =
    "A loaded module may still not work. So the check allocates 2 MiB on each GPU and registers "
    "them with each NIC that is not behind the CPU (else with the nearest NIC), once as a dma-buf "
    "and once by address, through a peer-memory module. Through each way that works, the NIC "
    "writes and reads GPU memory over a connection to itself, and the memory's owner compares "
    "every byte; gdr prove does the same with more sizes and modes. One working way is enough. "
    "Without an RDMA NIC the check only tries the export as a dma-buf. It judges only hardware: if "
    "LD_LIBRARY_PATH replaces a library with a stand-in, the check says so.";

// Started for each pair are two processes with CUDA: some seconds.
constexpr Nanoseconds kEnough = 120 * kSecond;

using proof::Registration;

const char* name_of_way(Registration way) {
  return way == Registration::kDmaBuf ? "dma-buf" : "peer memory";
}

constexpr int kKernelNotSupported = 524;  // ENOTSUPP, which no header of user space has

// The fix for refused registrations, by the most telling errno.
Fix fix_of(const std::vector<proof::RegistrationResult>& refused, const Host& host) {
  int code = refused.back().code;
  for (const proof::RegistrationResult& result : refused) {
    if (result.code == ENOMEM || result.code == kKernelNotSupported) code = result.code;
  }
  switch (code) {
    case ENOMEM:
      return {to_type("ulimit -l unlimited"), by_gdr_fix_for_good("locked-memory")};
    case kKernelNotSupported:
      return {to_type("gdr doctor --explain driver-topology-gate"), {}};
    default:
      break;
  }
  const Ways ways = find_ways(host);
  if (ways.plan.loading == host::Loading::kCanLoad ||
      (ways.plan.loading == host::Loading::kCannot && ways.dma_buf != Tri::kYes)) {
    return fix_of(ways);
  }
  // Both were there by all that could be seen.
  return {to_type("sudo dmesg | grep -i -e nvrm -e peermem -e dma-buf", "shows why it was refused"),
          to_do(ways.plan.ways.remedy)};
}

Evidences evidence_of(const proof::Report& report) {
  Evidences evidence;
  for (const proof::RegistrationResult& result : report.registrations) {
    evidence.push_back(
        {std::string("ibv_reg_mr, ") + name_of_way(result.registration) + ", " + result.nic,
         result.ok ? "registered 2 MiB" : result.detail});
  }
  for (const proof::Check& check : report.checks) {
    evidence.push_back({check.title + ", " + proof::direction_text(check),
                        check.status == proof::Status::kProved
                            ? std::to_string(check.bytes) + " bytes right"
                            : check.reason});
  }
  return evidence;
}

bool is_about_gpu(const proof::Check& check) {
  return proof::is_device(check.direction.from) || proof::is_device(check.direction.to);
}

std::string ways_text(const proof::Report& report) {
  std::string text;
  for (const proof::RegistrationResult& result : report.registrations) {
    text += (text.empty() ? "" : ", ") + std::string(name_of_way(result.registration)) +
            (result.ok ? " works" : " does not");
  }
  return text;
}

Finding judge_pair(const Host& host, const std::string& subject, const proof::Report& report) {
  const auto& tried = report.registrations;
  const auto refused =
      std::find_if(tried.begin(), tried.end(), [](const auto& result) { return !result.ok; });
  const bool any = std::any_of(tried.begin(), tried.end(), [](const auto& r) { return r.ok; });
  Evidences evidence = evidence_of(report);
  if (tried.empty()) {
    const auto& seen = report.verdict.seen;
    return unknown(subject,
                   "cannot be tried: " + (seen.empty() ? std::string("no reason") : seen[0]),
                   std::move(evidence), to_type(report.verdict.next));
  }
  if (!any) {
    return fail(subject, "GPU memory cannot be registered: " + refused->detail, std::move(evidence),
                "All transfers between them go through host memory.", fix_of(tried, host));
  }
  std::uint64_t bytes = 0;
  for (const proof::Check& check : report.checks) {
    if (!is_about_gpu(check)) continue;
    if (check.status == proof::Status::kFailed) {
      const auto& advice = check.advice;
      return fail(subject, "registered, but a transfer failed: " + check.reason,
                  std::move(evidence),
                  advice.causes.empty() ? "GPU memory does not hold the data that was sent."
                                        : "Most likely: " + advice.causes.front() + ".",
                  {to_type(advice.next), {}});
    }
    if (check.status == proof::Status::kProved) bytes += check.bytes;
  }
  if (bytes == 0) {
    return unknown(subject, ways_text(report) + "; no transfer was possible", std::move(evidence),
                   to_type("gdr prove"));
  }
  return ok(subject, ways_text(report) + "; written and read, every byte correct",
            std::move(evidence));
}

// "no peer-memory interface in this kernel, no RDMA NIC to register with"
std::string what_is_missing(const Host& host, const Ways& ways) {
  std::string text;
  if (!ways.peer_memory) text = ways.peer_memory_text() + ", ";
  const bool nics = std::any_of(host.inventory.nics.begin(), host.inventory.nics.end(),
                                [](const host::Nic& nic) { return nic.pci.has_value(); });
  return text + (nics ? "no RDMA NIC with an active port to register with"
                      : "no RDMA NIC to register with");
}

Finding judge_export(const ExportTrial& trial, const Ways& ways, const std::string& missing) {
  const std::string subject = "GPU " + trial.pci_address;
  Evidences evidence = ways.evidence;
  const std::string call = "cuMemGetHandleForAddressRange, 2 MiB";
  evidence.push_back({call, trial.exported ? "a dma-buf" : trial.problem});
  if (trial.exported) {
    return unknown(subject, "dma-buf export works, " + missing, std::move(evidence),
                   to_type("gdr doctor", "once this host has an RDMA NIC"));
  }
  const std::string summary = (trial.allocated ? "dma-buf export fails (" : "cannot be tried (") +
                              trial.problem + "), " + missing;
  if (!trial.allocated) return unknown(subject, summary, std::move(evidence));
  return ways.peer_memory ? unknown(subject, summary, std::move(evidence))
                          : fail(subject, summary, std::move(evidence),
                                 "A NIC cannot get this memory in any way.", fix_of(ways));
}

Findings without_nic(const Host& host) {
  const Ways ways = find_ways(host);
  const std::string missing = what_is_missing(host, ways);
  const Result<ExportTrials>& exports = host.probes->exports();
  if (!exports) return {unknown("", exports.error().message + "; " + missing)};
  Findings findings;
  for (const ExportTrial& trial : exports->gpus) {
    findings.push_back(judge_export(trial, ways, missing));
  }
  return findings;
}

// The reason why CUDA cannot take part.
std::optional<Finding> no_cuda(const Result<CudaFacts>& cuda) {
  if (!cuda) return unknown("", "cannot be tried: " + cuda.error().message);
  if (cuda->stand_in) {
    return unknown("", "not tried: libcuda.so.1 is gdrkit's stand-in, not a real driver",
                   {{"libcuda.so.1", cuda->library}},
                   to_type("env -u LD_LIBRARY_PATH -u LD_PRELOAD gdr doctor"));
  }
  if (!cuda->problem.empty()) return unknown("", "cannot be tried: " + cuda->problem);
  if (cuda->gpus.empty()) return unknown("", "cannot be tried: CUDA lists no GPU");
  return std::nullopt;
}

Findings find(const Host& host) {
  if (host.inventory.gpus.empty()) return no_gpu();
  const Result<CudaFacts>& cuda = host.probes->cuda();
  if (auto reason = no_cuda(cuda)) return {*std::move(reason)};
  const std::vector<NamedPairing> pairings = choose_pairings(host.inventory, *cuda);
  if (pairings.empty()) return without_nic(host);
  const Nanoseconds start = now();
  Findings findings;
  for (const NamedPairing& named : pairings) {
    if (now() - start > kEnough) {
      const std::size_t left = pairings.size() - findings.size();
      findings.push_back(unknown(
          "", text::plural(left, "pair") + " not tried: the time limit of two minutes is over", {},
          to_type("gdr prove --all")));
      break;
    }
    Result<proof::Report> report = host.probes->prove(named.pairing);
    findings.push_back(report
                           ? judge_pair(host, named.subject, *report)
                           : unknown(named.subject, "cannot be tried: " + report.error().message));
  }
  return findings;
}

}  // namespace registration_check

const Check kRegistration{"registration",
                          Area::kRegistration,
                          "Live test of registration and transfers",
                          registration_check::kExplanation,
                          26,
                          Cost::kProbe,
                          registration_check::find};

}  // namespace gdr::doctor
