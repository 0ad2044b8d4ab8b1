// Slow paths: single measurements that stand out, though both of their ends are well. They tell of
// one uplink of a leaf, of a spine, of something that comes and goes, or of nothing at all, for
// noise has heavy tails. Only counts that chance does not explain become findings.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "fabric/judge/draft.h"
#include "fabric/judge/statistics.h"
#include "fabric/judge/words.h"

namespace gdr::fabric {
namespace {

// How rarely chance may make a finding in a whole run.
constexpr double kChanceOfRun = 1e-3;
// Even a fleet in which nothing stood out has outliers now and then.
constexpr double kLeastRate = 1e-3;
// Of a leaf's paths, so many must be slow, and so much more often than others'.
constexpr double kTimesOthers = 3;
// What is estimated for paths under one leaf is on the high side already.
constexpr double kTimesNear = 2;
// A run of a few rounds in which this share was slow is not just noise.
constexpr double kLeastOften = 0.15;
// Candidates for retests: the slowest first.
constexpr std::size_t kMostPairs = 32;

struct Outliers {
  std::vector<std::size_t> low;      // indexes of measurements
  std::vector<std::size_t> counted;  // all that could have been
};

Outliers outliers_of(const Analysis& analysis) {
  const View& view = analysis.view;
  const std::vector<Measurement>& all = view.report().measurements;
  const double limit = analysis.outlier_below();
  Outliers outliers;
  for (std::size_t index = 0; index < all.size(); ++index) {
    const double ratio = static_cast<double>(view.bandwidths()[index]);
    if (ratio <= 0 || analysis.explained[index] || !view.counts(all[index])) continue;
    outliers.counted.push_back(index);
    if (ratio < limit) outliers.low.push_back(index);
  }
  return outliers;
}

double median_share(const Analysis& analysis, const std::vector<std::size_t>& indexes) {
  std::vector<float> ratios;
  for (const std::size_t index : indexes) ratios.push_back(analysis.view.bandwidths()[index]);
  const double centre = analysis.both.centre > 0 ? analysis.both.centre : 1;
  return upper_median(&ratios) / centre;
}

// The slowest ones first.
std::vector<std::size_t> slowest(const Analysis& analysis, std::vector<std::size_t> indexes) {
  std::ranges::sort(indexes, {}, [&](std::size_t index) {
    return std::pair(analysis.view.bandwidths()[index], index);
  });
  if (indexes.size() > kMostPairs) indexes.resize(kMostPairs);
  return indexes;
}

struct LeafVotes {
  std::size_t low = 0, counted = 0;
};

void add_leaf(Analysis* analysis, std::uint32_t leaf, const std::vector<std::size_t>& low,
              std::size_t counted, double others) {
  const View& view = analysis->view;
  Draft draft;
  draft.is_clearable = true;
  draft.examples = slowest(*analysis, low);
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

// Rounds of a cell, and those in which it was slow. In one round, one disturbance may hit several
// measurements.
struct Rounds {
  std::vector<std::uint32_t> all, slow;
  std::vector<std::size_t> low;

  void settle() {
    for (std::vector<std::uint32_t>* rounds : {&all, &slow}) {
      std::ranges::sort(*rounds);
      rounds->erase(std::unique(rounds->begin(), rounds->end()), rounds->end());
    }
  }
};

void add_flapping(Analysis* analysis, HostIndex host, std::int32_t rail, const Rounds& rounds) {
  const View& view = analysis->view;
  Draft draft;
  Finding& finding = draft.finding;
  finding.fault = Fault::kSlow;
  finding.culprit = rail < 0 ? Culprit::kHost : Culprit::kCable;
  finding.hosts = {host};
  finding.rail = rail;
  finding.share = median_share(*analysis, rounds.low);
  draft.sends = draft.receives = true;
  for (std::uint32_t number = 0; number < view.rails(); ++number) {
    if (rail < 0 || number == static_cast<std::uint32_t>(rail)) {
      draft.cells.push_back(view.cell(host, number));
    }
  }
  finding.text =
      fmt::format("{}: {} than the fleet in {} of {} rounds",
                  rail < 0 ? host_name(view.report(), host) : cell_name(view, draft.cells.front()),
                  slower_text(finding.share), rounds.slow.size(), rounds.all.size());
  finding.evidence.emplace_back(
      rail < 0 ? "It comes and goes on several rails, as when something else uses the host."
               : "It comes and goes, as with a loose cable or a link that trains again.");
  for (const std::size_t index : rounds.low) analysis->explained[index] = true;
  analysis->drafts.push_back(std::move(draft));
}

// Of all cells.
std::vector<Rounds> rounds_of(const Analysis& analysis, const Outliers& outliers) {
  const View& view = analysis.view;
  const std::vector<Measurement>& all = view.report().measurements;
  // Cells without enough slow measurements cannot stand out, and need no list of their rounds.
  std::vector<std::uint32_t> slow(view.cells());
  for (const std::size_t index : outliers.low) {
    ++slow[view.sender(all[index])];
    ++slow[view.receiver(all[index])];
  }
  std::vector<Rounds> rounds(view.cells());
  for (const std::size_t index : outliers.low) {
    for (const std::uint32_t cell : {view.sender(all[index]), view.receiver(all[index])}) {
      rounds[cell].slow.push_back(all[index].round);
      rounds[cell].low.push_back(index);
    }
  }
  for (const std::size_t index : outliers.counted) {
    for (const std::uint32_t cell : {view.sender(all[index]), view.receiver(all[index])}) {
      if (slow[cell] >= kLeastPaths) rounds[cell].all.push_back(all[index].round);
    }
  }
  for (Rounds& each : rounds) each.settle();
  return rounds;
}

void find_flapping(Analysis* analysis, Outliers* outliers) {
  const View& view = analysis->view;
  if (view.hosts() < 3 || outliers->counted.empty()) return;
  std::vector<Rounds> rounds = rounds_of(*analysis, *outliers);
  // A round of a cell has up to two measurements, one for each direction.
  const double each = 2 * std::max(kLeastRate, static_cast<double>(outliers->low.size()) /
                                                   static_cast<double>(outliers->counted.size()));
  const double limit = kChanceOfRun / static_cast<double>(view.cells());
  for (HostIndex host = 0; host < view.hosts(); ++host) {
    std::vector<std::uint32_t> found;
    std::size_t known = 0;
    for (std::uint32_t rail = 0; rail < view.rails(); ++rail) {
      const Rounds& own = rounds[view.cell(host, rail)];
      if (analysis->both.of[view.cell(host, rail)] > 0) ++known;
      const std::size_t slow = own.slow.size();
      if (slow < kLeastPaths) continue;
      // What is slow only with one partner is no fault of the rail's own.
      if (static_cast<double>(slow) < kLeastOften * static_cast<double>(own.all.size())) continue;
      if (chance_of_at_least(slow, own.all.size(), each) <= limit) found.push_back(rail);
    }
    if (found.size() > 1 && found.size() * 2 >= known) {
      Rounds whole;
      for (const std::uint32_t rail : found) {
        const Rounds& own = rounds[view.cell(host, rail)];
        whole.all.insert(whole.all.end(), own.all.begin(), own.all.end());
        whole.slow.insert(whole.slow.end(), own.slow.begin(), own.slow.end());
        whole.low.insert(whole.low.end(), own.low.begin(), own.low.end());
      }
      whole.settle();
      add_flapping(analysis, host, -1, whole);
      continue;
    }
    for (const std::uint32_t rail : found) {
      add_flapping(analysis, host, static_cast<std::int32_t>(rail), rounds[view.cell(host, rail)]);
    }
  }
  const auto is_explained = [&](std::size_t index) { return analysis->explained[index]; };
  std::erase_if(outliers->low, is_explained);
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
  draft.examples = slowest(*analysis, far);
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
