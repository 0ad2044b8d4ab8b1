// Wrong bytes and failed transfers: the hosts that most of them have in common, as rows and columns
// of the matrix show it. What no host has in common with another pair stays a pair.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <queue>
#include <set>
#include <tuple>
#include <unordered_map>

#include "base/printable.h"
#include "fabric/judge/draft.h"
#include "fabric/judge/words.h"

namespace gdr::fabric {
namespace {

// With fewer partners, a host is as much suspect as the one at the other end.
constexpr std::size_t kLeastPartners = 2;

// The words for measurements.
class Incidents {
 public:
  explicit Incidents(const Report& report) : all_(report.incidents) {
    for (const Incident& incident : all_) order_.push_back(&incident);
    std::ranges::sort(order_, {}, key_of);
  }
  // Empty: there are none.
  std::string text(const Measurement& m) const {
    const Key key{m.from, m.to, m.round, m.rail};
    const auto found = std::ranges::lower_bound(order_, key, {}, key_of);
    return found != order_.end() && key_of(*found) == key ? printable((*found)->text) : "";
  }

 private:
  using Key = std::tuple<HostIndex, HostIndex, std::uint32_t, std::uint16_t>;
  static Key key_of(const Incident* incident) {
    return {incident->from, incident->to, incident->round, incident->rail};
  }
  const std::vector<Incident>& all_;
  std::vector<const Incident*> order_;
};

struct Totals {
  std::size_t sent = 0, received = 0;
};

class Blame {
 public:
  Blame(Analysis* analysis, Outcome outcome, Fault fault, const Incidents& incidents)
      : analysis_(analysis), fault_(fault), incidents_(incidents), view_(analysis->view) {
    of_host_.resize(view_.hosts());
    totals_.resize(view_.cells());
    const std::vector<Measurement>& all = view_.report().measurements;
    for (std::size_t index = 0; index < all.size(); ++index) {
      const Measurement& m = all[index];
      if (!view_.is_sound(m) || m.outcome == Outcome::kAbandoned) continue;
      ++totals_[view_.sender(m)].sent;
      ++totals_[view_.receiver(m)].received;
      if (m.outcome != outcome || is_lost(m)) continue;
      of_host_[m.from].push_back(index);
      of_host_[m.to].push_back(index);
    }
  }

  void run() {
    // The host with most partners first; each that is blamed takes its share from its partners.
    std::priority_queue<std::pair<std::size_t, HostIndex>> queue;
    for (HostIndex host = 0; host < view_.hosts(); ++host) {
      if (const std::size_t count = partners(host); count > 0) queue.emplace(count, host);
    }
    while (!queue.empty()) {
      const auto [count, host] = queue.top();
      queue.pop();
      const std::size_t left = partners(host);
      if (left < count) {
        if (left > 0) queue.emplace(left, host);
        continue;
      }
      if (left >= kLeastPartners) blame_host(host);
      if (left == 1) keep_pair(host);
    }
    blame_pairs();
  }

 private:
  const Measurement& at(std::size_t index) const { return view_.report().measurements[index]; }

  // Failed because its other end was dying: that is told of the host.
  bool is_lost(const Measurement& m) const {
    for (const HostIndex host : {m.from, m.to}) {
      const Host& about = view_.report().hosts[host];
      const bool lost = about.state == HostState::kDied || about.state == HostState::kHung;
      if (fault_ == Fault::kFailed && lost && m.round >= about.lost_in) return true;
    }
    return false;
  }

  std::vector<std::size_t> left(HostIndex host) const {
    std::vector<std::size_t> indexes;
    for (const std::size_t index : of_host_[host]) {
      if (!analysis_->explained[index]) indexes.push_back(index);
    }
    return indexes;
  }
  std::size_t partners(HostIndex host) const {
    std::set<HostIndex> partners;
    for (const std::size_t index : left(host)) {
      partners.insert(at(index).from == host ? at(index).to : at(index).from);
    }
    return partners.size();
  }

  std::string noun() const {
    return fault_ == Fault::kWrongBytes ? "wrong bytes" : "failed transfers";
  }
  std::string were() const { return fault_ == Fault::kWrongBytes ? "arrived wrong" : "failed"; }

  void add_first_incident(const std::vector<std::size_t>& indexes, Finding* finding) const {
    const Measurement& m = at(indexes.front());
    const std::string words = incidents_.text(m);
    if (words.empty()) return;
    finding->evidence.push_back(
        fmt::format("First: {} to {}, round {}: {}", cell_name(view_, view_.sender(m)),
                    cell_name(view_, view_.receiver(m)), m.round + 1, words));
  }

  void finish(const std::vector<std::size_t>& indexes, Draft draft) {
    add_first_incident(indexes, &draft.finding);
    draft.finding.fault = fault_;
    draft.finding.is_confirmed =
        std::ranges::any_of(indexes, [&](std::size_t index) { return at(index).is_retest; });
    for (const std::size_t index : indexes) analysis_->explained[index] = true;
    analysis_->drafts.push_back(std::move(draft));
  }

  void blame_host(HostIndex host) {
    const std::vector<std::size_t> indexes = left(host);
    std::map<std::uint32_t, Totals> bad;  // by rail
    std::size_t sent = 0, received = 0;
    for (const std::size_t index : indexes) {
      if (at(index).from == host) ++bad[at(index).rail].sent, ++sent;
      if (at(index).to == host) ++bad[at(index).far_rail].received, ++received;
    }
    Draft draft;
    draft.sends = sent > 0;
    draft.receives = received > 0;
    Totals all;
    for (const auto& [rail, counts] : bad) {
      draft.cells.push_back(view_.cell(host, rail));
      all.sent += totals_[draft.cells.back()].sent;
      all.received += totals_[draft.cells.back()].received;
    }
    Finding& finding = draft.finding;
    const std::size_t rails = std::max<std::size_t>(1, view_.report().hosts[host].rails.size());
    const bool one_rail = bad.size() == 1 && rails > 1;
    finding.culprit = one_rail ? Culprit::kNic : Culprit::kHost;
    finding.hosts = {host};
    if (one_rail) finding.rail = static_cast<std::int32_t>(bad.begin()->first);
    const std::string direction = sent > 0 && received > 0 ? "in both directions"
                                  : sent > 0               ? "in what it sends"
                                                           : "in what it receives";
    finding.text = fmt::format(
        "{}: {} {}",
        one_rail ? cell_name(view_, draft.cells.front()) : host_name(view_.report(), host), noun(),
        direction);
    if (!one_rail && rails > 1) {
      finding.text += bad.size() >= rails ? " on every rail"
                                          : fmt::format(" on {} of {} rails", bad.size(), rails);
    }
    if (sent > 0) {
      finding.evidence.push_back(
          fmt::format("{} of {} transfers from it {}.", sent, all.sent, were()));
    }
    if (received > 0) {
      finding.evidence.push_back(
          fmt::format("{} of {} transfers to it {}.", received, all.received, were()));
    }
    finish(indexes, std::move(draft));
  }

  void keep_pair(HostIndex host) {
    pairs_.push_back(left(host));
    for (const std::size_t index : pairs_.back()) analysis_->explained[index] = true;
  }

  static std::uint64_t direction_of(const Measurement& m) {
    return (std::uint64_t{m.from} << 32) | m.to;
  }

  // How often each of them was tried is counted for all of them at once.
  void blame_pairs() {
    std::unordered_map<std::uint64_t, std::size_t> tries;
    for (const std::vector<std::size_t>& pair : pairs_) tries[direction_of(at(pair.front()))] = 0;
    if (tries.empty()) return;
    for (const Measurement& m : view_.report().measurements) {
      if (m.outcome == Outcome::kAbandoned) continue;
      if (const auto found = tries.find(direction_of(m)); found != tries.end()) ++found->second;
    }
    for (std::vector<std::size_t>& pair : pairs_) {
      blame_pair(pair, tries[direction_of(at(pair.front()))]);
    }
  }

  void blame_pair(const std::vector<std::size_t>& indexes, std::size_t tries) {
    const Measurement& first = at(indexes.front());
    bool one_rail = true, both_ways = false;
    for (const std::size_t index : indexes) {
      one_rail = one_rail && at(index).rail == first.rail && at(index).far_rail == first.far_rail;
      both_ways = both_ways || at(index).from != first.from;
    }
    const auto same_way = static_cast<std::size_t>(std::ranges::count_if(
        indexes, [&](std::size_t index) { return at(index).from == first.from; }));
    Draft draft;
    draft.examples = {indexes.front()};
    Finding& finding = draft.finding;
    finding.culprit = Culprit::kPair;
    finding.hosts = {first.from, first.to};
    if (one_rail) finding.rail = first.rail;
    const std::string ends =
        one_rail ? fmt::format("{} {} {}", cell_name(view_, view_.sender(first)),
                               both_ways ? "and" : "to", cell_name(view_, view_.receiver(first)))
                 : fmt::format("{} {} {}", host_name(view_.report(), first.from),
                               both_ways ? "and" : "to", host_name(view_.report(), first.to));
    finding.text = fmt::format("{}: {}", ends, noun());
    finding.evidence.push_back(fmt::format("{} of {} transfers from {} to {} {}.", same_way, tries,
                                           host_name(view_.report(), first.from),
                                           host_name(view_.report(), first.to), were()));
    if (view_.hosts() > 2) {
      finding.evidence.emplace_back("With other hosts, neither of them had this.");
    } else {
      finding.evidence.emplace_back(
          "With two hosts it cannot be told which of them it is; a third one would show it.");
    }
    finish(indexes, std::move(draft));
  }

  Analysis* analysis_;
  Fault fault_;
  const Incidents& incidents_;
  const View& view_;
  std::vector<std::vector<std::size_t>> of_host_;  // indexes of bad measurements
  std::vector<Totals> totals_;                     // a cell each
  std::vector<std::vector<std::size_t>> pairs_;    // indexes of bad measurements of each
};

}  // namespace

void find_damage(Analysis* analysis) {
  const Incidents incidents(analysis->view.report());
  Blame(analysis, Outcome::kWrongBytes, Fault::kWrongBytes, incidents).run();
  Blame(analysis, Outcome::kFailed, Fault::kFailed, incidents).run();
}

}  // namespace gdr::fabric
