#include "fabric/collector/examinations.h"

#include <algorithm>

#include "fabric/collector/said.h"

namespace gdr::fabric {
namespace {

constexpr std::size_t kMostCounters = 1'000;  // 12 of each rail are asked for

bool is_about_few(const Finding& finding) {
  return finding.culprit == Culprit::kHost || finding.culprit == Culprit::kNic ||
         finding.culprit == Culprit::kCable || finding.culprit == Culprit::kPair;
}

}  // namespace

std::vector<HostIndex> hosts_to_examine(const Report& report, std::size_t most) {
  std::vector<HostIndex> hosts;
  for (const Finding& finding : report.findings) {
    if (!is_about_few(finding)) continue;
    for (const HostIndex host : finding.hosts) {
      if (hosts.size() < most && report.hosts[host].state == HostState::kThere &&
          std::ranges::find(hosts, host) == hosts.end()) {
        hosts.push_back(host);
      }
    }
  }
  return hosts;
}

void tidy(Examined* examined, std::size_t rails) {
  examined->doctor = said(examined->doctor);
  std::erase_if(examined->counters,
                [&](const Examined::Counter& counter) { return counter.rail >= rails; });
  if (examined->counters.size() > kMostCounters) examined->counters.resize(kMostCounters);
  for (Examined::Counter& counter : examined->counters) {
    counter.name = said(counter.name, kMostName);
  }
}

}  // namespace gdr::fabric
