#include "fabric/judge/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "base/printable.h"
#include "fabric/host_list.h"
#include "fabric/judge/draft.h"
#include "fabric/judge/statistics.h"
#include "fabric/judge/words.h"

namespace gdr::fabric {
namespace {

std::vector<FleetRail> fleet_of(const Report& report) {
  const std::size_t rails = rail_count(report);
  std::vector<std::vector<float>> rates(rails), delays(rails);
  for (const Measurement& m : report.measurements) {
    if (m.is_retest || m.rail != m.far_rail || m.rail >= rails) continue;
    if (m.bytes_per_second > 0) rates[m.rail].push_back(m.bytes_per_second);
    if (m.latency > 0) delays[m.rail].push_back(m.latency);
  }
  std::vector<FleetRail> fleet(rails);
  for (std::size_t rail = 0; rail < rails; ++rail) {
    fleet[rail] = {figure_of(&rates[rail]), figure_of(&delays[rail])};
  }
  return fleet;
}

void analyse(Analysis* analysis) {
  find_states(analysis);
  find_low_links(analysis);
  find_damage(analysis);
  find_slow_leaves(analysis);
  find_slow_cells(analysis);
  find_late_cells(analysis);
  find_slow_paths(analysis);
  find_slow_fleet(analysis);
  merge_into_leaves(analysis);
}

// Faults first, in the order of the enumeration; then what is sure; then how much is lost.
auto badness(const Finding& finding) {
  const double share = finding.fault == Fault::kSlow ? finding.share : 0;
  return std::tuple(finding.fault, !finding.is_confirmed, share,
                    finding.hosts.empty() ? HostIndex{0} : finding.hosts.front(), finding.rail);
}

}  // namespace

Analysis::Analysis(const Report& report)
    : view(report), fleet(fleet_of(report)), explained(report.measurements.size()) {
  fleet.resize(view.rails());
}

Suspicion suspect(const Report& report) {
  Analysis analysis(report);
  analyse(&analysis);
  std::vector<bool> bad(report.hosts.size());
  std::set<HostIndex> hosts;
  std::set<std::pair<HostIndex, HostIndex>> pairs;
  for (const Draft& draft : analysis.drafts) {
    const Finding& finding = draft.finding;
    if (finding.culprit != Culprit::kFleet && !draft.is_only_candidate) {
      for (const HostIndex host : finding.hosts) bad[host] = true;
    }
    if (!is_about_transfers(finding)) continue;
    for (const std::size_t index : draft.examples) {
      pairs.emplace(report.measurements[index].from, report.measurements[index].to);
    }
    if (finding.culprit == Culprit::kPair) pairs.emplace(finding.hosts[0], finding.hosts[1]);
    for (const std::uint32_t cell : draft.cells) hosts.insert(analysis.view.host_of(cell));
  }
  Suspicion suspicion;
  const auto is_there = [&](HostIndex host) {
    return report.hosts[host].state == HostState::kThere;
  };
  std::ranges::copy_if(hosts, std::back_inserter(suspicion.hosts), is_there);
  for (const auto& [from, to] : pairs) {
    if (!is_there(from) || !is_there(to) || hosts.contains(from) || hosts.contains(to)) continue;
    suspicion.pairs.push_back({from, to});
  }
  const auto is_good = [&](HostIndex host) {
    return !bad[host] && !hosts.contains(host) && is_there(host);
  };
  for (HostIndex host = 0; host < report.hosts.size(); ++host) {
    if (is_good(host)) suspicion.good.push_back(host);
  }
  // Nobody is left to be held against: whoever is only worth a retest is taken for good. In a round
  // a host has one place, so it is then no suspect.
  if (suspicion.good.empty()) {
    std::erase_if(suspicion.hosts, [&](HostIndex host) { return !bad[host]; });
    for (HostIndex host = 0; host < report.hosts.size(); ++host) {
      if (!bad[host] && is_there(host)) suspicion.good.push_back(host);
    }
  }
  return suspicion;
}

void judge(Report* report) {
  Analysis analysis(*report);
  analyse(&analysis);
  confirm(&analysis);
  merge_into_hosts(&analysis);
  merge_pairs(&analysis);
  std::vector<Finding> findings;
  for (Draft& draft : analysis.drafts) {
    draft.finding.next = next_command(*report, draft.finding);
    findings.push_back(std::move(draft.finding));
  }
  std::ranges::stable_sort(findings, {}, badness);
  report->findings = std::move(findings);
  report->fleet = std::move(analysis.fleet);
}

void add_examination(Report* report, HostIndex host, const Examined& examined) {
  for (Finding& finding : report->findings) {
    if (!is_of_one_host(finding) || finding.hosts != std::vector<HostIndex>{host}) continue;
    finding.doctor = printable(examined.doctor);
    for (const Examined::Counter& counter : examined.counters) {
      if (counter.moved <= 0) continue;
      if (finding.rail >= 0 && finding.rail != counter.rail) continue;
      finding.evidence.push_back(fmt::format("{}: {} rose by {} during the run.",
                                             rail_name(*report, host, counter.rail),
                                             printable(counter.name), counter.moved));
      // Bits that are lost on the way are the cable's, its transceivers' or the port's.
      const bool slow = finding.fault == Fault::kSlow || finding.fault == Fault::kFailed;
      if (slow && finding.culprit == Culprit::kNic) finding.culprit = Culprit::kCable;
    }
  }
}

text::Command drain_command(const Report& report) {
  std::vector<HostIndex> hosts;
  for (const Finding& finding : report.findings) {
    if (!is_to_be_drained(report, finding)) continue;
    hosts.insert(hosts.end(), finding.hosts.begin(), finding.hosts.end());
  }
  return hosts.empty() ? text::Command() : drain_command(report, hosts, "see its report");
}

}  // namespace gdr::fabric
