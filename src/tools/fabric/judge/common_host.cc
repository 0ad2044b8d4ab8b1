// Pairs that are slow for sure and have one host in common are that host's: where a fleet scatters
// much, a host's own medians do not stand out, and its pairs do when they are retested alone.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "fabric/judge/draft.h"
#include "fabric/judge/words.h"

namespace gdr::fabric {
namespace {

// A bad host is bad with almost everybody whom it has met.
constexpr double kAlmostAllPartners = 0.6;
constexpr std::size_t kLeastSlowPartners = 3;

bool is_sure_pair(const Draft& draft) {
  return draft.finding.culprit == Culprit::kPair && draft.finding.fault == Fault::kSlow &&
         draft.finding.is_confirmed;
}

// What a host sends to and receives from others, of pairs that are slow.
struct SlowEnds {
  std::set<HostIndex> to, from, partners;
  std::vector<double> shares;
};

std::map<HostIndex, SlowEnds> slow_ends(const Analysis& analysis) {
  std::map<HostIndex, SlowEnds> ends;
  for (const Draft& draft : analysis.drafts) {
    if (!is_sure_pair(draft)) continue;
    const HostIndex from = draft.finding.hosts[0], to = draft.finding.hosts[1];
    for (const auto& [host, partner] : {std::pair(from, to), std::pair(to, from)}) {
      (host == from ? ends[host].to : ends[host].from).insert(partner);
      ends[host].partners.insert(partner);
      ends[host].shares.push_back(draft.finding.share);
    }
  }
  return ends;
}

std::vector<std::size_t> partners_met(const View& view) {
  std::vector<std::set<HostIndex>> partners(view.hosts());
  for (const Measurement& m : view.report().measurements) {
    if (!view.is_sound(m) || m.is_retest) continue;
    partners[m.from].insert(m.to);
    partners[m.to].insert(m.from);
  }
  std::vector<std::size_t> counts;
  for (const std::set<HostIndex>& each : partners) counts.push_back(each.size());
  return counts;
}

Draft host_draft(const Analysis& analysis, HostIndex host, SlowEnds& ends, std::size_t met) {
  const View& view = analysis.view;
  Draft draft;
  draft.sends = !ends.to.empty();
  draft.receives = !ends.from.empty();
  for (std::uint32_t rail = 0; rail < view.rails(); ++rail) {
    draft.cells.push_back(view.cell(host, rail));
  }
  Finding& finding = draft.finding;
  finding.fault = Fault::kSlow;
  finding.culprit = Culprit::kHost;
  finding.hosts = {host};
  finding.is_confirmed = true;
  std::ranges::sort(ends.shares);
  finding.share = ends.shares[ends.shares.size() / 2];
  const char* const direction = ends.from.empty() ? ", sending only"
                                : ends.to.empty() ? ", receiving only"
                                                  : "";
  finding.text = fmt::format("{}: {} than the fleet{}", host_name(view.report(), host),
                             slower_text(finding.share), direction);
  finding.evidence.push_back(
      fmt::format("With {} of the {} hosts that it met it was slow, and again alone on the fabric.",
                  ends.partners.size(), met));
  return draft;
}

}  // namespace

void merge_into_hosts(Analysis* analysis) {
  const std::vector<std::size_t> met = partners_met(analysis->view);
  for (;;) {
    std::map<HostIndex, SlowEnds> ends = slow_ends(*analysis);
    const auto worst = std::ranges::max_element(
        ends, {}, [](const auto& entry) { return entry.second.partners.size(); });
    if (worst == ends.end() || worst->second.partners.size() < kLeastSlowPartners ||
        static_cast<double>(worst->second.partners.size()) <
            kAlmostAllPartners * static_cast<double>(met[worst->first])) {
      return;
    }
    const HostIndex host = worst->first;
    Draft draft = host_draft(*analysis, host, worst->second, met[host]);
    std::erase_if(analysis->drafts, [&](const Draft& each) {
      return is_sure_pair(each) && (each.finding.hosts[0] == host || each.finding.hosts[1] == host);
    });
    analysis->drafts.push_back(std::move(draft));
  }
}

}  // namespace gdr::fabric
