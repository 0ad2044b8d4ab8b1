// What comes and goes: a cell that is slow in more rounds than chance explains, though its median
// is well.
#include <fmt/format.h>

#include <algorithm>

#include "fabric/judge/outliers.h"
#include "fabric/judge/statistics.h"
#include "fabric/judge/words.h"

namespace gdr::fabric {
namespace {

// So rarely chance makes a cell worth a retest. The retest's rounds then decide together with the
// others.
constexpr double kChanceOfCandidate = 3e-3;
// A run of a few rounds in which this share was slow is not just noise.
constexpr double kLeastOften = 0.15;

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

void add_flapping(Analysis* analysis, HostIndex host, std::int32_t rail, const Rounds& rounds,
                  double each) {
  const View& view = analysis->view;
  Draft draft;
  Finding& finding = draft.finding;
  finding.fault = Fault::kSlow;
  finding.culprit = rail < 0 ? Culprit::kHost : Culprit::kCable;
  finding.hosts = {host};
  finding.rail = rail;
  finding.share = median_share(*analysis, rounds.low);
  draft.sends = draft.receives = true;
  draft.recurrence = {rounds.slow.size(), rounds.all.size(), each, analysis->chance_of_cell()};
  draft.is_only_candidate =
      chance_of_at_least(rounds.slow.size(), rounds.all.size(), each) > draft.recurrence.limit;
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
  for (const std::size_t index : rounds.low) {
    if (!draft.is_only_candidate) analysis->explained[index] = true;
  }
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

}  // namespace

void find_flapping(Analysis* analysis, Outliers* outliers) {
  const View& view = analysis->view;
  if (view.hosts() < 3 || outliers->counted.empty()) return;
  std::vector<Rounds> rounds = rounds_of(*analysis, *outliers);
  // A round of a cell has up to two measurements, one for each direction.
  const double each = 2 * std::max(kLeastRate, static_cast<double>(outliers->low.size()) /
                                                   static_cast<double>(outliers->counted.size()));
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
      if (chance_of_at_least(slow, own.all.size(), each) <= kChanceOfCandidate) {
        found.push_back(rail);
      }
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
      add_flapping(analysis, host, -1, whole, each);
      continue;
    }
    for (const std::uint32_t rail : found) {
      add_flapping(analysis, host, static_cast<std::int32_t>(rail), rounds[view.cell(host, rail)],
                   each);
    }
  }
  const auto is_explained = [&](std::size_t index) { return analysis->explained[index]; };
  std::erase_if(outliers->low, is_explained);
}

}  // namespace gdr::fabric
