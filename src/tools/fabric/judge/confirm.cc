// What retests say of drafts: seen again, or as fast as the fleet.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "fabric/judge/draft.h"
#include "fabric/judge/statistics.h"
#include "fabric/judge/words.h"

namespace gdr::fabric {
namespace {

// Of three retests, one may be lost.
constexpr std::size_t kLeastRetests = 2;
// So many of the paths of a leaf or spine must be slow again; so few mean that it was the traffic.
constexpr double kSeenAgain = 0.5, kNotSeenAgain = 0.2;

using Path = std::tuple<HostIndex, HostIndex, std::uint16_t>;

Path path_of(const Measurement& m) { return {m.from, m.to, m.rail}; }

class Retests {
 public:
  explicit Retests(const Analysis& analysis) : analysis_(analysis), view_(analysis.view) {
    suspect_.resize(view_.hosts());
    for (const Draft& draft : analysis.drafts) {
      for (const std::uint32_t cell : draft.cells) suspect_[view_.host_of(cell)] = true;
    }
    for (const Draft& draft : analysis.drafts) {
      for (const std::size_t index : draft.examples) {
        paths_[path_of(view_.report().measurements[index])];
      }
    }
    sort_out();
  }

  // In both lists, above 1 is fast and for latency slow, in relation to healthy hosts that were
  // retested at the same time.
  std::vector<float> of_cell(std::uint32_t cell, bool sent, bool latency) const {
    std::vector<float> ratios;
    if (cell >= view_.cells() || sent_.empty()) return ratios;
    for (const std::size_t index : (sent ? sent_ : received_)[cell]) add(index, latency, &ratios);
    return ratios;
  }
  // Rounds in which the cell was slow in one of these directions, and all.
  std::pair<std::size_t, std::size_t> rounds_of_cell(std::uint32_t cell, bool sends, bool receives,
                                                     double slow_below) const {
    std::set<std::uint32_t> slow, all;
    const auto look = [&](const std::vector<std::size_t>& indexes) {
      for (const std::size_t index : indexes) {
        std::vector<float> ratio;
        add(index, false, &ratio);
        if (ratio.empty()) continue;
        all.insert(view_.report().measurements[index].round);
        if (static_cast<double>(ratio.front()) < slow_below) {
          slow.insert(view_.report().measurements[index].round);
        }
      }
    };
    if (sends && !sent_.empty()) look(sent_[cell]);
    if (receives && !received_.empty()) look(received_[cell]);
    return {slow.size(), all.size()};
  }
  std::vector<float> of_path(const Measurement& m) const {
    std::vector<float> ratios;
    const auto found = paths_.find(path_of(m));
    if (found == paths_.end()) return ratios;
    for (const std::size_t index : found->second) add(index, false, &ratios);
    return ratios;
  }

 private:
  void sort_out() {
    const std::vector<Measurement>& all = view_.report().measurements;
    std::vector<std::vector<float>> rates(2 * view_.rails()), delays(view_.rails());
    bandwidth_.assign(rates.size(), 1);
    latency_.assign(view_.rails(), 1);
    for (std::size_t index = 0; index < all.size(); ++index) {
      const Measurement& m = all[index];
      if (!m.is_retest || !view_.is_sound(m) || m.rail != m.far_rail) continue;
      if (sent_.empty()) {
        sent_.resize(view_.cells());
        received_.resize(view_.cells());
      }
      const auto path = paths_.find(path_of(m));
      if (path != paths_.end()) path->second.push_back(index);
      // A suspect that meets another suspect is not tested against anything.
      if (!suspect_[m.to]) sent_[view_.sender(m)].push_back(index);
      if (!suspect_[m.from]) received_[view_.receiver(m)].push_back(index);
      const bool healthy = !suspect_[m.from] && !suspect_[m.to] && path == paths_.end() &&
                           !paths_.contains({m.to, m.from, m.rail});
      if (!healthy) continue;
      if (view_.bandwidths()[index] > 0) rates[kind_of(m)].push_back(view_.bandwidths()[index]);
      if (view_.latencies()[index] > 0) delays[m.rail].push_back(view_.latencies()[index]);
    }
    const double centre = analysis_.both.centre > 0 ? analysis_.both.centre : 1;
    for (std::size_t kind = 0; kind < rates.size(); ++kind) {
      bandwidth_[kind] = rates[kind].size() < kLeastValues ? centre : upper_median(&rates[kind]);
    }
    for (std::uint32_t rail = 0; rail < view_.rails(); ++rail) {
      if (delays[rail].size() >= kLeastValues) latency_[rail] = lower_median(&delays[rail]);
    }
  }

  // Alone on the fabric, what crosses leaves gains more than what does not.
  std::size_t kind_of(const Measurement& m) const {
    return 2U * m.rail + (view_.crosses_leaves(m) ? 1 : 0);
  }

  void add(std::size_t index, bool latency, std::vector<float>* ratios) const {
    const float ratio = (latency ? view_.latencies() : view_.bandwidths())[index];
    if (ratio <= 0) return;
    const Measurement& m = view_.report().measurements[index];
    ratios->push_back(ratio /
                      static_cast<float>(latency ? latency_[m.rail] : bandwidth_[kind_of(m)]));
  }

  const Analysis& analysis_;
  const View& view_;
  std::vector<bool> suspect_;  // a host each
  std::map<Path, std::vector<std::size_t>> paths_;
  std::vector<std::vector<std::size_t>> sent_, received_;  // a cell each; empty: no retests
  // What healthy hosts reach: a kind each, a rail each.
  std::vector<double> bandwidth_, latency_;
};

// How many of a draft's parts (cells' directions, or paths) were retested, and slow again.
struct Tally {
  std::size_t tested = 0, again = 0, values = 0;
  double share = 0;  // of the worst one
};

class Confirmation {
 public:
  explicit Confirmation(Analysis* analysis) : analysis_(analysis), retests_(*analysis) {
    const double centre = analysis->both.centre;
    path_below_ = centre > 0 ? analysis->outlier_below() / centre : 1 - kLeastSlowdown;
    slow_below_ = path_below_;
    // A median of three scatters less than one value and more than that of a whole run.
    if (centre > 0 && analysis->both.slow_below > 0) {
      slow_below_ = std::max(slow_below_, (analysis->both.slow_below / centre + slow_below_) / 2);
    }
  }

  bool keep(Draft* draft) const {
    Finding& finding = draft->finding;
    if (finding.fault == Fault::kWrongBytes || finding.fault == Fault::kFailed) {
      say_whether_again(draft);
      return true;
    }
    if (finding.fault != Fault::kSlow && finding.fault != Fault::kHighLatency) return true;
    // Two hosts have nobody else to be retested with.
    if (analysis_->view.hosts() < 3) return true;
    const Tally tally = draft->examples.empty() ? cells(*draft) : paths(*draft);
    if (tally.tested == 0) return !draft->is_only_candidate;
    if (draft->recurrence.all > 0 && (draft->is_only_candidate || tally.again == 0)) {
      return keep_recurring(draft);
    }
    const double share = static_cast<double>(tally.again) / static_cast<double>(tally.tested);
    if (finding.culprit == Culprit::kLeaf || finding.culprit == Culprit::kSpine) {
      return settle(draft, tally, share >= kSeenAgain, share < kNotSeenAgain);
    }
    return settle(draft, tally, tally.again > 0, tally.again == 0);
  }

 private:
  static bool settle(Draft* draft, const Tally& tally, bool again, bool cleared) {
    if (cleared && draft->is_clearable) return false;
    Finding& finding = draft->finding;
    if (again) {
      finding.is_confirmed = true;
      if (draft->examples.size() > 1) {
        finding.evidence.push_back(
            fmt::format("Retested alone on the fabric, {} of {} paths were "
                        "slow again.",
                        tally.again, tally.tested));
      } else if (finding.fault == Fault::kSlow) {
        finding.evidence.push_back(
            fmt::format("Retested alone on the fabric {}, it reached {} of what healthy hosts do.",
                        times_text(tally.values), percent_text(tally.share)));
      } else {
        finding.evidence.emplace_back("Retested alone on the fabric, its latency was high again.");
      }
    } else if (!finding.is_confirmed) {
      finding.evidence.push_back(fmt::format("Retested alone on the fabric, {} of {} were slow.",
                                             tally.again, tally.tested));
    }
    return true;
  }

  // All rounds together, with and without the retests, must be more than chance.
  bool keep_recurring(Draft* draft) const {
    const Recurrence& known = draft->recurrence;
    std::size_t slow = 0, all = 0;
    for (const std::uint32_t cell : draft->cells) {
      const auto [low, rounds] =
          retests_.rounds_of_cell(cell, draft->sends, draft->receives, path_below_);
      slow = std::max(slow, low);
      all = std::max(all, rounds);
    }
    const double before = chance_of_at_least(known.slow, known.all, known.each);
    const double together = chance_of_at_least(known.slow + slow, known.all + all, known.each);
    if (std::min(before, together) > known.limit) return false;
    draft->finding.is_confirmed = draft->finding.is_confirmed || slow > 0;
    draft->finding.evidence.push_back(
        fmt::format("Retested alone on the fabric, it was slow in {} of {} rounds.", slow, all));
    return true;
  }

  void count(std::vector<float> ratios, bool latency, Tally* tally) const {
    if (ratios.size() < kLeastRetests) return;
    ++tally->tested;
    tally->values = std::max(tally->values, ratios.size());
    const double share = latency ? lower_median(&ratios) : upper_median(&ratios);
    const bool again = latency ? share > 1 + kLeastDelay : share < slow_below_;
    if (!again) return;
    ++tally->again;
    if (tally->share == 0 || share < tally->share) tally->share = share;
  }

  Tally cells(const Draft& draft) const {
    Tally tally;
    const bool latency = draft.finding.fault == Fault::kHighLatency;
    for (const std::uint32_t cell : draft.cells) {
      if (draft.sends) count(retests_.of_cell(cell, true, latency), latency, &tally);
      if (draft.receives) count(retests_.of_cell(cell, false, latency), latency, &tally);
    }
    return tally;
  }
  // A path is slow again only if it never was fast: it was chosen among all for one slow transfer,
  // and noise has its share of those.
  Tally paths(const Draft& draft) const {
    Tally tally;
    for (const std::size_t index : draft.examples) {
      const std::vector<float> ratios =
          retests_.of_path(analysis_->view.report().measurements[index]);
      if (ratios.size() < kLeastRetests) continue;
      ++tally.tested;
      tally.values = std::max(tally.values, ratios.size());
      const double best = static_cast<double>(std::ranges::max(ratios));
      if (best >= path_below_) continue;
      ++tally.again;
      if (tally.share == 0 || best < tally.share) tally.share = best;
    }
    return tally;
  }

  // What is wrong once is wrong. Whether it comes again says how often to look for it.
  void say_whether_again(Draft* draft) const {
    Finding& finding = draft->finding;
    const View& view = analysis_->view;
    std::size_t retests = 0;
    for (const Measurement& m : view.report().measurements) {
      if (!m.is_retest || !view.is_sound(m) || m.outcome == Outcome::kAbandoned) continue;
      const auto has = [&](std::uint32_t cell) {
        return std::ranges::find(draft->cells, cell) != draft->cells.end();
      };
      const bool own =
          finding.culprit == Culprit::kPair
              ? m.from == finding.hosts.front() && m.to == finding.hosts.back()
              : (draft->sends && has(view.sender(m))) || (draft->receives && has(view.receiver(m)));
      if (own) ++retests;
    }
    if (retests == 0) return;
    finding.evidence.push_back(
        finding.is_confirmed
            ? std::string("Retested alone on the fabric, it came again.")
            : fmt::format("It did not come again in {} transfers alone on the fabric.", retests));
  }

  Analysis* analysis_;
  Retests retests_;
  double slow_below_ = 0;  // the median of a cell's retests
  double path_below_ = 0;  // each of a path's retests
};

}  // namespace

void confirm(Analysis* analysis) {
  const Confirmation confirmation(analysis);
  std::erase_if(analysis->drafts, [&](Draft& draft) { return !confirmation.keep(&draft); });
}

}  // namespace gdr::fabric
