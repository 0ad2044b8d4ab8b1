#include "fabric/collector/examinations.h"

#include <algorithm>

namespace gdr::fabric {
namespace {

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

}  // namespace gdr::fabric
