// Slow hosts, NICs and cables: whose medians over what they sent and received are low. And leaves
// of which everything is slow that leaves or enters them.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "fabric/judge/draft.h"
#include "fabric/judge/statistics.h"
#include "fabric/judge/words.h"

namespace gdr::fabric {
namespace {

// With two leaves, each is as much at the end of every slow path as the other.
constexpr std::size_t kLeastLeaves = 3;

using Side = CellValues::Side;

Medians settled_medians(const Analysis& analysis, Side side, const CellValues::Select& select) {
  const CellValues values(analysis.view, side, analysis.view.settled_bandwidths(), select);
  return medians_of(analysis.view, values, true, analysis.scatter);
}

struct SlowRail {
  std::uint32_t cell = 0;
  bool sends = false, receives = false;
  double share = 1;
};

// Where flows share uplinks, many single transfers are slow, and then the medians of some cells are
// low by chance. What is expected of a transfer is what both of its ends reach.
class Chance {
 public:
  Chance(const Analysis& analysis, const CellValues::Select& select) : analysis_(analysis) {
    const View& view = analysis.view;
    sent_.resize(view.cells());
    received_.resize(view.cells());
    const std::vector<Measurement>& all = view.report().measurements;
    std::size_t low = 0, counted = 0;
    for (std::size_t index = 0; index < all.size(); ++index) {
      const double ratio = static_cast<double>(view.settled_bandwidths()[index]);
      if (ratio <= 0 || !select(all[index], index)) continue;
      const std::uint32_t from = view.sender(all[index]), to = view.receiver(all[index]);
      sent_[from].add(ratio < analysis.sent.slow_below);
      received_[to].add(ratio < analysis.received.slow_below);
      const double near = usual(analysis.sent, from), far = usual(analysis.received, to);
      if (near <= 0 || far <= 0 || analysis.both.centre <= 0) continue;
      ++counted;
      if (ratio < std::min(near, far) * analysis.both.slow_below / analysis.both.centre) ++low;
    }
    if (counted > 0) rate_ = static_cast<double>(low) / static_cast<double>(counted);
    rate_ = std::max(rate_, kLeastRate);
  }

  // In a whole run, chance may send about one cell to be retested, which clears it.
  bool explains(std::uint32_t cell, bool sends, bool receives) const {
    Count count;
    if (sends) count.add(sent_[cell]);
    if (receives) count.add(received_[cell]);
    return chance_of_at_least_exactly(count.low, count.all, rate_) >
           1 / static_cast<double>(analysis_.view.cells());
  }

 private:
  struct Count {
    std::size_t low = 0, all = 0;
    void add(bool is_low) {
      ++all;
      if (is_low) ++low;
    }
    void add(const Count& other) {
      all += other.all;
      low += other.low;
    }
  };
  double usual(const Medians& side, std::uint32_t cell) const {
    return side.of[cell] > 0 ? side.of[cell] : analysis_.both.of[cell];
  }

  const Analysis& analysis_;
  std::vector<Count> sent_, received_;
  double rate_ = 0;  // of single transfers that are slow though both of their ends are well
};

// Both directions where too few were measured to tell them apart.
SlowRail judge_cell(const Analysis& analysis, std::uint32_t cell) {
  SlowRail rail{.cell = cell};
  if (analysis.sent.of[cell] == 0 || analysis.received.of[cell] == 0) {
    rail.sends = rail.receives = analysis.both.is_slow(cell);
    rail.share = analysis.both.share(cell);
    return rail;
  }
  rail.sends = analysis.sent.is_slow(cell);
  rail.receives = analysis.received.is_slow(cell);
  const double sent = analysis.sent.share(cell), received = analysis.received.share(cell);
  // Only one direction, where the other one is as the fleet's: one that is nearer to the slow one
  // was hidden by the fleet's scatter.
  if (rail.sends != rail.receives &&
      std::max(sent, received) < (1 + std::min(sent, received)) / 2) {
    rail.sends = rail.receives = true;
  }
  rail.share = rail.sends && rail.receives ? (sent + received) / 2 : rail.sends ? sent : received;
  return rail;
}

std::string figures(const Analysis& analysis, std::uint32_t cell) {
  const View& view = analysis.view;
  const double usual = view.usual_bandwidth(view.rail_of(cell)) * 8;
  const double sent = analysis.sent.of[cell], received = analysis.received.of[cell];
  const std::string name = rail_name(view.report(), view.host_of(cell), view.rail_of(cell));
  if (sent > 0 && received > 0) {
    return fmt::format("{} sends {} and receives {}; the fleet usually reaches {}.", name,
                       rate_text(analysis.sent.share(cell) * usual),
                       rate_text(analysis.received.share(cell) * usual), rate_text(usual));
  }
  return fmt::format("{} reaches {}; the fleet usually reaches {}.", name,
                     rate_text(analysis.both.share(cell) * usual), rate_text(usual));
}

void explain(Analysis* analysis, const std::vector<SlowRail>& rails) {
  std::vector<bool> sends(analysis->view.cells()), receives(analysis->view.cells());
  for (const SlowRail& rail : rails) {
    if (rail.sends) sends[rail.cell] = true;
    if (rail.receives) receives[rail.cell] = true;
  }
  const std::vector<Measurement>& all = analysis->view.report().measurements;
  for (std::size_t index = 0; index < all.size(); ++index) {
    if (!analysis->view.is_sound(all[index])) continue;
    if (sends[analysis->view.sender(all[index])] || receives[analysis->view.receiver(all[index])]) {
      analysis->explained[index] = true;
    }
  }
}

std::string direction(bool sends, bool receives) {
  return sends && receives ? "" : sends ? ", sending only" : ", receiving only";
}

// `low`: the slow rails of a host of which `rails` were measured.
// Sets a draft's recurrence where some rounds were as fast as the fleet's: what comes and goes, a
// retest may just miss.
void note_recurrence(const Analysis& analysis, const std::vector<SlowRail>& low, Draft* draft) {
  constexpr std::size_t kLeastRounds = 6;
  constexpr double kOften = 0.25;
  const View& view = analysis.view;
  const std::vector<Measurement>& all = view.report().measurements;
  std::set<std::uint32_t> rounds, slow;
  std::size_t counted = 0, outliers = 0;
  for (std::size_t index = 0; index < all.size(); ++index) {
    if (view.bandwidths()[index] <= 0 || !view.counts(all[index])) continue;
    const bool is_low = static_cast<double>(view.bandwidths()[index]) < analysis.outlier_below();
    ++counted;
    if (is_low) ++outliers;
    for (const SlowRail& rail : low) {
      const bool own = (rail.sends && view.sender(all[index]) == rail.cell) ||
                       (rail.receives && view.receiver(all[index]) == rail.cell);
      if (!own) continue;
      rounds.insert(all[index].round);
      if (is_low) slow.insert(all[index].round);
    }
  }
  const double fast = static_cast<double>(rounds.size() - slow.size());
  if (rounds.size() < kLeastRounds || fast < kOften * static_cast<double>(rounds.size())) return;
  const double rate = static_cast<double>(outliers) / static_cast<double>(counted);
  const double ways = (draft->sends ? 1 : 0) + (draft->receives ? 1 : 0);
  draft->recurrence = {slow.size(), rounds.size(), ways * std::max(kLeastRate, rate),
                       analysis.chance_of_cell()};
  draft->finding.evidence.push_back(
      fmt::format("It comes and goes: in {} of {} rounds it was as fast as the fleet.",
                  rounds.size() - slow.size(), rounds.size()));
}

void add_slow(Analysis* analysis, HostIndex host, const std::vector<SlowRail>& low,
              std::size_t rails) {
  const View& view = analysis->view;
  bool sends = false, receives = false;
  std::vector<float> shares;
  for (const SlowRail& rail : low) {
    sends = sends || rail.sends;
    receives = receives || rail.receives;
    shares.push_back(static_cast<float>(rail.share));
  }
  const double share = lower_median(&shares);
  const bool whole =
      low.size() * 2 >= rails && (low.size() > 1 || (rails == 1 && sends && receives));
  if (!whole && low.size() > 1) {
    for (const SlowRail& rail : low) add_slow(analysis, host, {rail}, rails);
    return;
  }
  Draft draft;
  draft.is_clearable = true;
  draft.sends = sends;
  draft.receives = receives;
  Finding& finding = draft.finding;
  finding.fault = Fault::kSlow;
  finding.hosts = {host};
  finding.share = share;
  for (const SlowRail& rail : low) draft.cells.push_back(rail.cell);
  if (whole) {
    finding.culprit = Culprit::kHost;
    const std::string where = rails == 1 ? ""
                              : low.size() == rails
                                  ? " on every rail"
                                  : fmt::format(" on {} of {} rails", low.size(), rails);
    finding.text = fmt::format("{}: {} than the fleet{}{}", host_name(view.report(), host),
                               slower_text(share), where, direction(sends, receives));
    if (rails == 1) {
      finding.evidence.emplace_back(
          "The host has one rail, so its NIC cannot be told apart from the rest of it.");
    }
  } else {
    finding.culprit = sends && receives ? Culprit::kNic : Culprit::kCable;
    finding.rail = static_cast<std::int32_t>(view.rail_of(low.front().cell));
    finding.text = fmt::format("{}: {} than the fleet{}", cell_name(view, low.front().cell),
                               slower_text(share), direction(sends, receives));
    if (rails > 1)
      finding.evidence.emplace_back("The host's other rails are as fast as the fleet.");
    if (finding.culprit == Culprit::kCable) {
      finding.evidence.emplace_back(
          "Only one direction is slow, as with a bad cable, transceiver or switch port.");
    }
  }
  for (const SlowRail& rail : low) finding.evidence.push_back(figures(*analysis, rail.cell));
  note_recurrence(*analysis, low, &draft);
  analysis->drafts.push_back(std::move(draft));
}

// Low ports are found already. What they measured becomes evidence and no second finding.
bool add_to_low_link(Analysis* analysis, const SlowRail& rail) {
  for (Draft& draft : analysis->drafts) {
    if (draft.finding.fault != Fault::kSlow || draft.finding.culprit != Culprit::kCable) continue;
    if (draft.cells != std::vector<std::uint32_t>{rail.cell}) continue;
    draft.finding.evidence.push_back(figures(*analysis, rail.cell));
    return true;
  }
  return false;
}

void find_scatter(Analysis* analysis) {
  const View& view = analysis->view;
  const auto all = [&](const Measurement& m, std::size_t) { return view.counts(m); };
  analysis->scatter = 0;
  const Medians medians = settled_medians(*analysis, Side::kBoth, all);
  analysis->scatter = scatter_of(view, view.bandwidths(), medians, true);
}

}  // namespace

double Analysis::outlier_below() const {
  const double centre = both.centre > 0 ? both.centre : 1;
  return slow_below(centre, scatter);
}

void find_slow_leaves(Analysis* analysis) {
  find_scatter(analysis);
  const View& view = analysis->view;
  if (view.leaves() < kLeastLeaves) return;
  const Medians far = settled_medians(
      *analysis, Side::kBoth,
      [&](const Measurement& m, std::size_t) { return view.counts(m) && view.crosses_leaves(m); });
  struct Leaf {
    std::vector<std::uint32_t> slow;
    std::set<HostIndex> hosts, slow_hosts;
    std::size_t known = 0;
    double share = 1;
  };
  std::vector<Leaf> leaves(view.leaves());
  for (std::uint32_t cell = 0; cell < view.cells(); ++cell) {
    if (view.leaf(cell) == kNoLeaf) continue;
    Leaf& leaf = leaves[view.leaf(cell)];
    leaf.hosts.insert(view.host_of(cell));
    if (far.of[cell] > 0) ++leaf.known;
    if (!far.is_slow(cell)) continue;
    leaf.slow.push_back(cell);
    leaf.slow_hosts.insert(view.host_of(cell));
    leaf.share = std::min(leaf.share, far.share(cell));
  }
  std::vector<bool> is_slow(view.leaves());
  for (std::uint32_t number = 0; number < view.leaves(); ++number) {
    const Leaf& leaf = leaves[number];
    is_slow[number] =
        leaf.slow_hosts.size() >= kLeastHostsOfLeaf &&
        static_cast<double>(leaf.slow.size()) >= kMostOfLeaf * static_cast<double>(leaf.known);
    if (!is_slow[number]) continue;
    std::vector<float> shares;
    for (const std::uint32_t cell : leaf.slow)
      shares.push_back(static_cast<float>(far.share(cell)));
    Draft draft;
    draft.is_clearable = draft.sends = draft.receives = true;
    draft.cells = leaf.slow;
    Finding& finding = draft.finding;
    finding.fault = Fault::kSlow;
    finding.culprit = Culprit::kLeaf;
    finding.leaf = view.leaf_name(number);
    finding.hosts.assign(leaf.hosts.begin(), leaf.hosts.end());
    finding.share = upper_median(&shares);
    finding.text = fmt::format("leaf {}: {} than the fleet to and from other leaves", finding.leaf,
                               slower_text(finding.share));
    finding.evidence.push_back(fmt::format("It holds for {} of its {} hosts: {}.",
                                           leaf.slow_hosts.size(), leaf.hosts.size(),
                                           hosts_text(view.report(), finding.hosts)));
    analysis->drafts.push_back(std::move(draft));
  }
  const std::vector<Measurement>& all = view.report().measurements;
  for (std::size_t index = 0; index < all.size(); ++index) {
    if (!view.is_sound(all[index]) || !view.crosses_leaves(all[index])) continue;
    if (is_slow[view.leaf(view.sender(all[index]))] ||
        is_slow[view.leaf(view.receiver(all[index]))]) {
      analysis->explained[index] = true;
    }
  }
}

void find_slow_cells(Analysis* analysis) {
  const View& view = analysis->view;
  const auto rest = [&](const Measurement& m, std::size_t index) {
    return view.counts(m) && !analysis->explained[index];
  };
  analysis->sent = settled_medians(*analysis, Side::kSent, rest);
  analysis->received = settled_medians(*analysis, Side::kReceived, rest);
  analysis->both = settled_medians(*analysis, Side::kBoth, rest);
  // Of two hosts, neither is the other's judge.
  if (view.hosts() < 3) return;
  const Chance chance(*analysis, rest);
  std::vector<SlowRail> found;
  for (HostIndex host = 0; host < view.hosts(); ++host) {
    std::vector<SlowRail> low;
    std::size_t known = 0;
    for (std::uint32_t rail = 0; rail < view.rails(); ++rail) {
      const std::uint32_t cell = view.cell(host, rail);
      if (analysis->both.of[cell] > 0) ++known;
      const SlowRail judged = judge_cell(*analysis, cell);
      if (!judged.sends && !judged.receives) continue;
      if (chance.explains(cell, judged.sends, judged.receives)) continue;
      found.push_back(judged);
      if (!add_to_low_link(analysis, judged)) low.push_back(judged);
    }
    if (!low.empty()) add_slow(analysis, host, low, known);
  }
  explain(analysis, found);
}

void find_late_cells(Analysis* analysis) {
  const View& view = analysis->view;
  if (view.hosts() < 3) return;
  const auto all = [&](const Measurement& m, std::size_t) { return view.counts(m); };
  const CellValues values(view, Side::kBoth, view.settled_latencies(), all);
  Medians medians = medians_of(view, values, false, 0);
  const double scatter = scatter_of(view, view.latencies(), medians, false);
  medians = medians_of(view, values, false, scatter);
  // Whatever is slow or fails is late, too, and is told already.
  std::vector<bool> told(view.cells());
  for (const Draft& draft : analysis->drafts) {
    for (const std::uint32_t cell : draft.cells) told[cell] = true;
  }
  for (HostIndex host = 0; host < view.hosts(); ++host) {
    std::vector<std::uint32_t> late;
    std::size_t known = 0;
    double times = 0;
    for (std::uint32_t rail = 0; rail < view.rails(); ++rail) {
      const std::uint32_t cell = view.cell(host, rail);
      if (medians.of[cell] > 0) ++known;
      if (!medians.is_late(cell) || told[cell]) continue;
      late.push_back(cell);
      times = std::max(times, medians.share(cell));
    }
    if (late.empty()) continue;
    const bool whole = late.size() * 2 >= known && (late.size() > 1 || known == 1);
    for (std::size_t place = 0; place < (whole ? 1 : late.size()); ++place) {
      Draft draft;
      draft.is_clearable = draft.sends = draft.receives = true;
      Finding& finding = draft.finding;
      finding.fault = Fault::kHighLatency;
      finding.culprit = whole ? Culprit::kHost : Culprit::kNic;
      finding.hosts = {host};
      if (whole) {
        draft.cells = late;
      } else {
        draft.cells = {late[place]};
        finding.rail = static_cast<std::int32_t>(view.rail_of(late[place]));
        times = medians.share(late[place]);
      }
      const double usual = view.usual_latency(view.rail_of(draft.cells.front())) / 1000;
      finding.text =
          fmt::format("{}: {:.1f} times the fleet's latency{}",
                      whole ? host_name(view.report(), host) : cell_name(view, late[place]), times,
                      whole && known > 1 ? " on most rails" : "");
      finding.evidence.push_back(
          fmt::format("An 8-byte read takes {:.2f} us; the fleet usually has "
                      "{:.2f} us.",
                      times * usual, usual));
      analysis->drafts.push_back(std::move(draft));
    }
  }
}

}  // namespace gdr::fabric
