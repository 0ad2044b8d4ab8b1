// Hosts that are not there to the end, rails that are missing, ports that came up slower than their
// like, and a fleet that is slow as a whole.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/printable.h"
#include "fabric/judge/draft.h"
#include "fabric/judge/statistics.h"
#include "fabric/judge/words.h"
#include "perf/limits/limits.h"

namespace gdr::fabric {
namespace {

// From so many hosts on, what most of them have is what all should have.
constexpr std::size_t kLeastForMost = 3;
// A rail that is slower by this than the other rails, on all hosts alike. Below it, rails differ
// because of where their NICs are plugged.
constexpr double kRailShare = 0.9;

void add_state(Analysis* analysis, HostIndex host, Fault fault, const std::string& text) {
  const Host& about = analysis->view.report().hosts[host];
  Draft draft;
  draft.finding.fault = fault;
  draft.finding.culprit = Culprit::kHost;
  draft.finding.hosts = {host};
  draft.finding.is_confirmed = true;
  draft.finding.text = fmt::format("{} {}", host_name(analysis->view.report(), host), text);
  if (!about.problem.empty()) draft.finding.text += ": " + printable(about.problem);
  analysis->drafts.push_back(std::move(draft));
}

// What most hosts have, and more than half; 0: nothing.
std::size_t usual_number_of_rails(const Report& report) {
  std::map<std::size_t, std::size_t> counts;
  std::size_t hosts = 0;
  for (const Host& host : report.hosts) {
    if (host.rails.empty()) continue;
    ++hosts;
    ++counts[host.rails.size()];
  }
  if (hosts < kLeastForMost) return 0;
  for (const auto& [rails, count] : counts) {
    if (count * 2 > hosts) return rails;
  }
  return 0;
}

void find_missing_rails(Analysis* analysis) {
  const Report& report = analysis->view.report();
  const std::size_t usual = usual_number_of_rails(report);
  if (report.processes_as_hosts) return;
  for (HostIndex host = 0; host < report.hosts.size(); ++host) {
    const std::vector<Rail>& own = report.hosts[host].rails;
    if (own.empty() || own.size() >= usual) continue;
    Draft draft;
    draft.finding.fault = Fault::kLeftOut;
    draft.finding.culprit = Culprit::kNic;
    draft.finding.hosts = {host};
    draft.finding.is_confirmed = true;
    draft.finding.text = fmt::format("{}: {} of the {} rails that most hosts have",
                                     host_name(report, host), own.size(), usual);
    std::string names;
    for (const Rail& rail : own) names += (names.empty() ? "" : ", ") + printable(rail.nic);
    draft.finding.evidence.push_back(fmt::format("Its rails are {}.", names));
    draft.finding.evidence.emplace_back(
        "With a rail missing, the rails behind it may meet other GPUs than elsewhere.");
    analysis->drafts.push_back(std::move(draft));
  }
}

}  // namespace

void find_states(Analysis* analysis) {
  const Report& report = analysis->view.report();
  for (HostIndex host = 0; host < report.hosts.size(); ++host) {
    const Host& about = report.hosts[host];
    switch (about.state) {
      case HostState::kThere:
        break;
      case HostState::kNeverCame:
        add_state(analysis, host, Fault::kNeverCame, "did not join the run");
        break;
      case HostState::kLeftOut:
        add_state(analysis, host, Fault::kLeftOut, "cannot take part");
        break;
      case HostState::kDied:
        add_state(analysis, host, Fault::kDied, fmt::format("died in round {}", about.lost_in + 1));
        break;
      case HostState::kHung:
        add_state(analysis, host, Fault::kHung,
                  fmt::format("stopped answering in round {}", about.lost_in + 1));
        break;
    }
  }
  find_missing_rails(analysis);
}

void find_low_links(Analysis* analysis) {
  const View& view = analysis->view;
  const Report& report = view.report();
  for (std::uint32_t rail = 0; rail < view.rails(); ++rail) {
    std::vector<HostIndex> low;
    std::size_t known = 0;
    for (HostIndex host = 0; host < report.hosts.size(); ++host) {
      if (!took_part(report.hosts[host]) || rail >= report.hosts[host].rails.size()) continue;
      const double rate = report.hosts[host].rails[rail].link_bits_per_second;
      if (rate > 0) ++known;
      if (rate > 0 && rate < 0.99 * view.usual_link(rail)) low.push_back(host);
    }
    // Half a fleet with slower ports is of another generation, and no fault.
    if (low.size() * 2 > known) continue;
    for (const HostIndex host : low) {
      const double rate = report.hosts[host].rails[rail].link_bits_per_second;
      Draft draft;
      draft.finding.fault = Fault::kSlow;
      draft.finding.culprit = Culprit::kCable;
      draft.finding.hosts = {host};
      draft.finding.rail = static_cast<std::int32_t>(rail);
      draft.finding.is_confirmed = true;
      draft.finding.share = rate / view.usual_link(rail);
      draft.finding.text = fmt::format("{}: the port came up at {:.0f} of {}",
                                       cell_name(view, view.cell(host, rail)), rate / 1e9,
                                       rate_text(view.usual_link(rail)));
      draft.finding.evidence.push_back(fmt::format("The same rail has {} on {} of {} hosts.",
                                                   rate_text(view.usual_link(rail)),
                                                   known - low.size(), known));
      draft.cells = {view.cell(host, rail)};
      draft.sends = draft.receives = true;
      analysis->drafts.push_back(std::move(draft));
    }
  }
}

namespace {

void add_fleet(Analysis* analysis, std::int32_t rail, double share, std::string text,
               std::string evidence) {
  Draft draft;
  draft.finding.fault = Fault::kSlow;
  draft.finding.culprit = Culprit::kFleet;
  draft.finding.rail = rail;
  draft.finding.share = share;
  draft.finding.is_confirmed = true;
  draft.finding.text = std::move(text);
  draft.finding.evidence.push_back(std::move(evidence));
  // Any host will do for the next command, so it is one that is there.
  const std::vector<Host>& hosts = analysis->view.report().hosts;
  const auto there =
      std::ranges::find(hosts, HostState::kThere, [](const Host& host) { return host.state; });
  if (there != hosts.end()) {
    draft.finding.hosts = {static_cast<HostIndex>(there - hosts.begin())};
  }
  analysis->drafts.push_back(std::move(draft));
}

// What pairs under one leaf and pairs across leaves reach: the difference is what the fabric costs.
std::string near_and_far(const View& view) {
  std::vector<float> near, far;
  for (const Measurement& m : view.report().measurements) {
    if (!view.counts(m) || m.bytes_per_second <= 0) continue;
    (view.crosses_leaves(m) ? far : near).push_back(m.bytes_per_second);
  }
  if (near.size() < kLeastValues || far.size() < kLeastValues) return "";
  return fmt::format("Pairs under one leaf reach {}, pairs across leaves {}.",
                     rate_text(upper_median(&near) * 8), rate_text(upper_median(&far) * 8));
}

// With two hosts, the pair is the fleet.
bool is_told_of_pair(const Analysis& analysis, std::uint32_t rail) {
  return analysis.view.hosts() < 3 && std::ranges::any_of(analysis.drafts, [&](const Draft& draft) {
           return draft.finding.culprit == Culprit::kPair && draft.finding.fault == Fault::kSlow &&
                  draft.finding.rail == static_cast<std::int32_t>(rail);
         });
}

}  // namespace

void find_slow_fleet(Analysis* analysis) {
  const View& view = analysis->view;
  const Report& report = view.report();
  std::vector<std::uint32_t> low;
  std::vector<float> medians;
  double lowest = 1;
  for (std::uint32_t rail = 0; rail < view.rails(); ++rail) {
    const double median = view.usual_bandwidth(rail) * 8;
    if (median <= 0) continue;
    medians.push_back(static_cast<float>(median));
    const double link = view.usual_link(rail);
    if (link <= 0 || report.message_bytes < perf::kLeastForLinks) continue;
    if (median >= perf::kLowShare * link) continue;
    if (is_told_of_pair(*analysis, rail)) continue;
    low.push_back(rail);
    lowest = std::min(lowest, median / link);
  }
  const bool all = low.size() > 1 && low.size() == medians.size();
  const auto add = [&](std::uint32_t rail, std::int32_t named) {
    const double median = view.usual_bandwidth(rail) * 8, link = view.usual_link(rail);
    const std::string where = named < 0 ? "every rail" : fleet_rail_name(report, rail);
    std::string evidence = near_and_far(view);
    if (evidence.empty()) {
      evidence = fmt::format(
          "Hosts hardly differ from each other, so it is something that all of "
          "them share: settings, PCIe, or the fabric.");
    }
    add_fleet(analysis, named, named < 0 ? lowest : median / link,
              fmt::format("the whole fleet, {}: {} of the link's {} ({})", where, rate_text(median),
                          rate_text(link), percent_text(median / link)),
              std::move(evidence));
  };
  if (all) {
    const auto worst = std::ranges::min_element(low, {}, [&](std::uint32_t rail) {
      return view.usual_bandwidth(rail) / view.usual_link(rail);
    });
    add(*worst, -1);
    return;
  }
  for (const std::uint32_t rail : low) add(rail, static_cast<std::int32_t>(rail));
  if (medians.size() < kLeastForMost || report.hosts.size() < kLeastForMost) return;
  const double usual = upper_median(&medians);
  for (std::uint32_t rail = 0; rail < view.rails(); ++rail) {
    const double median = view.usual_bandwidth(rail) * 8;
    if (median <= 0 || median >= kRailShare * usual) continue;
    if (std::ranges::find(low, rail) != low.end()) continue;
    if (view.usual_link(rail) != view.usual_link(0)) continue;
    add_fleet(analysis, static_cast<std::int32_t>(rail), median / usual,
              fmt::format("the whole fleet, {}: {} than the other rails",
                          fleet_rail_name(report, rail), slower_text(median / usual)),
              fmt::format("It reaches {}, the median of all rails is {}.", rate_text(median),
                          rate_text(usual)));
  }
}

}  // namespace gdr::fabric
