// Slow paths: single measurements that stand out, though both of their ends are well. They tell of
// one uplink of a leaf, of a spine, or of nothing at all, for noise has heavy tails. Only counts
// that chance does not explain become findings.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "fabric/judge/outliers.h"
#include "fabric/judge/statistics.h"
#include "fabric/judge/words.h"

namespace gdr::fabric {
namespace {

// Of a leaf's paths, so many must be slow, and so much more often than others'.
constexpr double kTimesOthers = 3;
// What is estimated for paths under one leaf is on the high side already.
constexpr double kTimesNear = 2;

struct LeafVotes {
  std::size_t low = 0, counted = 0;
};

void add_leaf(Analysis* analysis, std::uint32_t leaf, const std::vector<std::size_t>& low,
              std::size_t counted, double others) {
  const View& view = analysis->view;
  Draft draft;
  draft.is_clearable = true;
  draft.examples = typical(*analysis, low);
  Finding& finding = draft.finding;
  finding.fault = Fault::kSlow;
  finding.culprit = Culprit::kLeaf;
  finding.leaf = view.leaf_name(leaf);
  std::set<HostIndex> hosts;
  for (std::uint32_t cell = 0; cell < view.cells(); ++cell) {
    if (view.leaf(cell) == leaf) hosts.insert(view.host_of(cell));
  }
  finding.hosts.assign(hosts.begin(), hosts.end());
  finding.share = median_share(*analysis, low);
  finding.text =
      fmt::format("leaf {}: one of its uplinks is {}", finding.leaf, slower_text(finding.share));
  finding.evidence.push_back(fmt::format(
      "{} of {} transfers to and from other leaves were slow ({}); elsewhere {} are.", low.size(),
      counted, percent_text(static_cast<double>(low.size()) / static_cast<double>(counted)),
      percent_text(others)));
  analysis->drafts.push_back(std::move(draft));
}

// Whether that many slow paths are more than chance, and far more often than the `others`' rate.
bool stands_out(std::size_t low, std::size_t counted, double others, std::size_t leaves) {
  return low >= kLeastPaths &&
         static_cast<double>(low) >= kTimesOthers * others * static_cast<double>(counted) &&
         chance_of_at_least(low, counted, others) <= kChanceOfRun / static_cast<double>(leaves);
}

// It must be so without the host that has most of it, too; else it is that host, now and then.
bool is_spread(const View& view, std::uint32_t leaf, const std::vector<std::size_t>& low,
               std::size_t counted, double others) {
  std::map<HostIndex, std::size_t> of_host;
  std::size_t most = 0;
  for (const std::size_t index : low) {
    const Measurement& m = view.report().measurements[index];
    const HostIndex host = view.leaf(view.sender(m)) == leaf ? m.from : m.to;
    most = std::max(most, ++of_host[host]);
  }
  return of_host.size() >= kLeastHostsOfLeaf &&
         stands_out(low.size() - most, counted - most, others, view.leaves());
}

// The leaf whose paths stand out most, if one does; then again without it.
bool find_leaf(Analysis* analysis, Outliers* outliers) {
  const View& view = analysis->view;
  const std::vector<Measurement>& all = view.report().measurements;
  std::vector<LeafVotes> votes(view.leaves());
  std::size_t low = 0, counted = 0;
  const auto count = [&](const std::vector<std::size_t>& indexes, std::size_t LeafVotes::*into,
                         std::size_t* sum) {
    for (const std::size_t index : indexes) {
      if (!view.crosses_leaves(all[index])) continue;
      ++*sum;
      ++(votes[view.leaf(view.sender(all[index]))].*into);
      ++(votes[view.leaf(view.receiver(all[index]))].*into);
    }
  };
  count(outliers->low, &LeafVotes::low, &low);
  count(outliers->counted, &LeafVotes::counted, &counted);
  // Chance first, then how often: many measurements make also small differences sure.
  std::uint32_t best = kNoLeaf;
  double best_rate = 0, best_others = 0;
  for (std::uint32_t leaf = 0; leaf < votes.size(); ++leaf) {
    const LeafVotes& own = votes[leaf];
    if (counted <= own.counted) continue;
    const double others = std::max(kLeastRate, static_cast<double>(low - own.low) /
                                                   static_cast<double>(counted - own.counted));
    const double rate = static_cast<double>(own.low) / static_cast<double>(own.counted);
    if (rate <= best_rate || !stands_out(own.low, own.counted, others, votes.size())) continue;
    best = leaf;
    best_rate = rate;
    best_others = others;
  }
  if (best == kNoLeaf) return false;
  const auto touches = [&](std::size_t index) {
    return view.crosses_leaves(all[index]) && (view.leaf(view.sender(all[index])) == best ||
                                               view.leaf(view.receiver(all[index])) == best);
  };
  std::vector<std::size_t> own;
  std::ranges::copy_if(outliers->low, std::back_inserter(own), touches);
  if (!is_spread(view, best, own, votes[best].counted, best_others)) return false;
  add_leaf(analysis, best, own, votes[best].counted, best_others);
  for (const std::size_t index : own) analysis->explained[index] = true;
  std::erase_if(outliers->low, touches);
  std::erase_if(outliers->counted, touches);
  return true;
}

// Paths across leaves are slow far more often than paths under one leaf, and no leaf stands out.
void find_spine(Analysis* analysis, Outliers* outliers) {
  const View& view = analysis->view;
  const std::vector<Measurement>& all = view.report().measurements;
  const auto crosses = [&](std::size_t index) { return view.crosses_leaves(all[index]); };
  std::vector<std::size_t> far;
  std::ranges::copy_if(outliers->low, std::back_inserter(far), crosses);
  if (far.size() < kLeastSpinePaths) return;
  const auto counted = static_cast<std::size_t>(std::ranges::count_if(outliers->counted, crosses));
  // What so few paths under one leaf still allow: three more than were seen.
  const double near = static_cast<double>(outliers->low.size() - far.size() + 3) /
                      static_cast<double>(outliers->counted.size() - counted + 3);
  const double rate = static_cast<double>(far.size()) / static_cast<double>(counted);
  if (rate < kTimesNear * near) return;
  if (chance_of_at_least(far.size(), counted, near) > kChanceOfRun) return;
  std::set<std::uint32_t> leaves;
  for (const std::size_t index : far) {
    leaves.insert(view.leaf(view.sender(all[index])));
    leaves.insert(view.leaf(view.receiver(all[index])));
  }
  Draft draft;
  draft.is_clearable = true;
  draft.examples = typical(*analysis, far);
  Finding& finding = draft.finding;
  finding.fault = Fault::kSlow;
  finding.culprit = Culprit::kSpine;
  finding.share = median_share(*analysis, far);
  const std::string where =
      leaves.size() == 2 ? fmt::format("between leaves {} and {}", view.leaf_name(*leaves.begin()),
                                       view.leaf_name(*leaves.rbegin()))
                         : fmt::format("between {} leaves", leaves.size());
  finding.text = fmt::format("spine: some paths {} are {}", where, slower_text(finding.share));
  finding.evidence.push_back(
      fmt::format("{} of {} transfers across leaves were slow ({}); under one leaf at most {} are.",
                  far.size(), counted, percent_text(rate), percent_text(near)));
  finding.evidence.emplace_back(leaves.size() == 2
                                    ? "With two leaves, either one's uplinks may be the cause."
                                    : "No leaf stands out, so it is a spine or what leads there.");
  analysis->drafts.push_back(std::move(draft));
  for (const std::size_t index : far) analysis->explained[index] = true;
  std::erase_if(outliers->low, crosses);
}

void add_pair(Analysis* analysis, std::size_t index) {
  const View& view = analysis->view;
  const Measurement& m = view.report().measurements[index];
  Draft draft;
  draft.is_clearable = draft.is_only_candidate = true;
  draft.examples = {index};
  Finding& finding = draft.finding;
  finding.fault = Fault::kSlow;
  finding.culprit = Culprit::kPair;
  finding.hosts = {m.from, m.to};
  finding.rail = m.rail;
  finding.share = median_share(*analysis, draft.examples);
  finding.text = fmt::format("{} to {}: {} than the fleet", cell_name(view, view.sender(m)),
                             cell_name(view, view.receiver(m)), slower_text(finding.share));
  finding.evidence.emplace_back("Both hosts are as fast as the fleet with others.");
  if (view.leaves() == 0) {
    finding.evidence.emplace_back(
        "Which switches lie between them is not known, so leaf and spine cannot be told.");
  }
  analysis->drafts.push_back(std::move(draft));
}

// Two hosts can only be held against each other's rails.
void find_rails_of_two(Analysis* analysis) {
  const View& view = analysis->view;
  const std::vector<Measurement>& all = view.report().measurements;
  std::vector<std::vector<float>> rates(std::size_t{view.rails()} * 2);
  std::vector<std::size_t> example(rates.size());
  for (std::size_t index = 0; index < all.size(); ++index) {
    if (!view.counts(all[index]) || all[index].bytes_per_second <= 0) continue;
    const std::size_t place = all[index].rail * 2U + (all[index].from > all[index].to ? 1 : 0);
    rates[place].push_back(all[index].bytes_per_second);
    example[place] = index;
  }
  std::vector<float> medians;
  for (std::vector<float>& each : rates) {
    if (!each.empty()) medians.push_back(static_cast<float>(upper_median(&each)));
  }
  if (medians.size() < kLeastValues) return;
  const double usual = upper_median(&medians);
  // A single measurement each: only what is far away says anything.
  constexpr double kFarAway = 0.8;
  for (std::size_t place = 0; place < rates.size(); ++place) {
    if (rates[place].empty()) continue;
    const double share = upper_median(&rates[place]) / usual;
    if (share >= kFarAway) continue;
    const auto rail = static_cast<std::uint32_t>(place / 2);
    if (view.usual_link(rail) != view.usual_link(0)) continue;
    const Measurement& m = all[example[place]];
    Draft draft;
    draft.examples = {example[place]};
    Finding& finding = draft.finding;
    finding.fault = Fault::kSlow;
    finding.culprit = Culprit::kPair;
    finding.hosts = {m.from, m.to};
    finding.rail = m.rail;
    finding.share = share;
    finding.text =
        fmt::format("{} to {}: {} than between the other rails", cell_name(view, view.sender(m)),
                    cell_name(view, view.receiver(m)), slower_text(share));
    finding.evidence.emplace_back(
        "With two hosts it cannot be told which of them is slow; a third one would show it.");
    analysis->drafts.push_back(std::move(draft));
  }
}

}  // namespace

void find_slow_paths(Analysis* analysis) {
  if (analysis->view.hosts() < 3) {
    find_rails_of_two(analysis);
    return;
  }
  Outliers outliers = outliers_of(*analysis);
  for (std::size_t found = 0; found < analysis->view.leaves(); ++found) {
    if (!find_leaf(analysis, &outliers)) break;
  }
  find_flapping(analysis, &outliers);
  find_spine(analysis, &outliers);
  for (const std::size_t index : slowest(*analysis, outliers.low)) add_pair(analysis, index);
}

}  // namespace gdr::fabric
