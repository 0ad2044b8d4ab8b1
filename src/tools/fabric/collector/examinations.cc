#include "fabric/collector/examinations.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/printable.h"

namespace gdr::fabric {
namespace {

bool is_about_few(const Finding& finding) {
  return finding.culprit == Culprit::kHost || finding.culprit == Culprit::kNic ||
         finding.culprit == Culprit::kCable || finding.culprit == Culprit::kPair;
}

// Which name evidence gives it where a finding is about two hosts.
std::string of(const Report& report, const Finding& finding, HostIndex host) {
  return finding.hosts.size() > 1 ? report.hosts[host].name + ": " : "";
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

void add_examination(Report& report, HostIndex host, const Examined& examined) {
  for (Finding& finding : report.findings) {
    if (!is_about_few(finding) || std::ranges::find(finding.hosts, host) == finding.hosts.end()) {
      continue;
    }
    if (!examined.doctor.empty()) {
      if (!finding.doctor.empty()) finding.doctor += "; ";
      finding.doctor += of(report, finding, host) + printable(examined.doctor);
    }
    for (const Examined::Counter& counter : examined.counters) {
      if (finding.rail >= 0 && finding.rail != counter.rail) continue;
      if (counter.rail >= report.hosts[host].rails.size()) continue;
      finding.evidence.push_back(fmt::format(
          "{}{} of {} rose by {} during the run.", of(report, finding, host),
          printable(counter.name), report.hosts[host].rails[counter.rail].nic, counter.moved));
    }
  }
}

}  // namespace gdr::fabric
