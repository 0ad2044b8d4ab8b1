#include "fabric/judge/view.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "base/printable.h"
#include "fabric/judge/statistics.h"

namespace gdr::fabric {
namespace {

// With fewer measurements, a kind has no usual value of its own.
constexpr std::size_t kLeastOfKind = 8;
// More different rates of links than this are not told apart.
constexpr std::size_t kMostLinks = 16;

}  // namespace

View::View(const Report& report) : report_(report) {
  rails_ = std::max<std::uint32_t>(1, static_cast<std::uint32_t>(rail_count(report)));
  name_leaves();
  find_links();
  bandwidth_ = ratios(&Measurement::bytes_per_second, true);
  latency_ = ratios(&Measurement::latency, false);
}

bool View::is_sound(const Measurement& m) const {
  return m.from < hosts() && m.to < hosts() && m.rail < rails_ && m.far_rail < rails_;
}

bool View::counts(const Measurement& m) const {
  return !m.is_retest && m.rail == m.far_rail && is_sound(m);
}

bool View::crosses_leaves(const Measurement& m) const {
  const std::uint32_t near = leaf_[sender(m)], far = leaf_[receiver(m)];
  return near != far && near != kNoLeaf && far != kNoLeaf;
}

void View::name_leaves() {
  leaf_.assign(cells(), kNoLeaf);
  std::unordered_map<std::string, std::uint32_t> numbers;
  for (HostIndex host = 0; host < hosts(); ++host) {
    const Host& about = report_.hosts[host];
    for (std::uint32_t rail = 0; rail < rails_; ++rail) {
      const std::string& own = rail < about.rails.size() ? about.rails[rail].leaf : about.leaf;
      const std::string& name = own.empty() ? about.leaf : own;
      if (name.empty()) continue;
      const auto [place, is_new] =
          numbers.try_emplace(name, static_cast<std::uint32_t>(leaf_names_.size()));
      if (is_new) leaf_names_.push_back(printable(name));
      leaf_[cell(host, rail)] = place->second;
    }
  }
}

// The most frequent rate; of equally frequent ones the highest.
void View::find_links() {
  usual_link_.assign(rails_, 0);
  for (std::uint32_t rail = 0; rail < rails_; ++rail) {
    std::map<double, std::size_t> counts;
    for (const Host& host : report_.hosts) {
      if (!took_part(host) || rail >= host.rails.size()) continue;
      if (host.rails[rail].link_bits_per_second > 0) {
        ++counts[host.rails[rail].link_bits_per_second];
      }
    }
    std::size_t most = 0;
    for (const auto& [rate, count] : counts) {
      if (count >= most) usual_link_[rail] = rate;
      most = std::max(most, count);
      links_.push_back(rate);
    }
  }
  std::ranges::sort(links_);
  links_.erase(std::unique(links_.begin(), links_.end()), links_.end());
  if (links_.size() > kMostLinks) links_.clear();
}

// By rail, by the slower one of both ports, and by whether it crosses leaves: what is farther away,
// or has a slower port, is not held against anybody.
std::uint32_t View::kind_of(const Measurement& m) const {
  std::size_t link = 0;
  const std::vector<Rail>& near = report_.hosts[m.from].rails;
  const std::vector<Rail>& far = report_.hosts[m.to].rails;
  if (!links_.empty() && m.rail < near.size() && m.far_rail < far.size()) {
    const double slower =
        std::min(near[m.rail].link_bits_per_second, far[m.far_rail].link_bits_per_second);
    const auto place = std::ranges::lower_bound(links_, slower);
    link = slower > 0 ? static_cast<std::size_t>(place - links_.begin()) + 1 : 0;
  }
  const std::size_t kind = (m.rail * (links_.size() + 1) + link) * 2 + (crosses_leaves(m) ? 1 : 0);
  return static_cast<std::uint32_t>(kind);
}

// Medians of what each host's rail, or each leaf, sent and received, and then the median of those.
// A plain median over all measurements would not do: with four leaves, half of all transfers across
// leaves touch the one that is slow, and with three hosts, most touch the slow host.
double View::usual_of(const std::vector<std::uint32_t>& indexes, bool by_leaf,
                      const std::vector<float>& of_each, bool higher_is_better) const {
  const std::size_t groups = by_leaf ? leaves() : cells();
  const auto group_of = [&](std::uint32_t cell) { return by_leaf ? leaf_[cell] : cell; };
  std::vector<std::uint32_t> first(groups + 1);
  for (const std::uint32_t index : indexes) {
    ++first[group_of(sender(report_.measurements[index])) + 1];
    ++first[group_of(receiver(report_.measurements[index])) + 1];
  }
  for (std::size_t group = 1; group <= groups; ++group) first[group] += first[group - 1];
  std::vector<float> values(first.back());
  std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
  for (const std::uint32_t index : indexes) {
    const Measurement& m = report_.measurements[index];
    values[next[group_of(sender(m))]++] = of_each[index];
    values[next[group_of(receiver(m))]++] = of_each[index];
  }
  const auto median = [&](std::vector<float>* of) {
    return higher_is_better ? upper_median(of) : lower_median(of);
  };
  std::vector<float> medians, own;
  for (std::size_t group = 0; group < groups; ++group) {
    if (first[group] == first[group + 1]) continue;
    own.assign(values.begin() + first[group], values.begin() + first[group + 1]);
    medians.push_back(static_cast<float>(median(&own)));
  }
  return median(&medians);
}

// Few hosts meet several times. Then the median of a pair's repetitions stands for each of them:
// with three hosts, half of what a good one measures is with the bad one, so that a single
// disturbance would decide about the median.
void View::settle(bool higher_is_better, std::vector<float>* values) const {
  constexpr std::uint32_t kFewHosts = 32;
  if (hosts() > kFewHosts) return;
  std::map<std::tuple<HostIndex, HostIndex, std::uint16_t>, std::vector<std::uint32_t>> repeated;
  for (std::uint32_t index = 0; index < values->size(); ++index) {
    const Measurement& m = report_.measurements[index];
    if (counts(m) && (*values)[index] > 0) repeated[{m.from, m.to, m.rail}].push_back(index);
  }
  for (const auto& [pair, indexes] : repeated) {
    if (indexes.size() < 3) continue;
    std::vector<float> own;
    for (const std::uint32_t index : indexes) own.push_back((*values)[index]);
    const double median = higher_is_better ? upper_median(&own) : lower_median(&own);
    for (const std::uint32_t index : indexes) (*values)[index] = static_cast<float>(median);
  }
}

View::Ratios View::ratios(float Measurement::*value, bool higher_is_better) const {
  const std::size_t kinds = std::size_t{rails_} * (links_.size() + 1) * 2;
  const std::vector<Measurement>& all = report_.measurements;
  std::vector<float> values(all.size());
  std::vector<std::vector<std::uint32_t>> of_kind(kinds), of_rail(rails_);
  for (std::uint32_t index = 0; index < all.size(); ++index) {
    values[index] = all[index].*value;
    if (!counts(all[index]) || values[index] <= 0) continue;
    of_kind[kind_of(all[index])].push_back(index);
    of_rail[all[index].rail].push_back(index);
  }
  settle(higher_is_better, &values);
  Ratios ratios;
  for (const std::vector<std::uint32_t>& indexes : of_rail) {
    ratios.usual.push_back(usual_of(indexes, false, values, higher_is_better));
  }
  std::vector<double> usual_of_kind;
  for (std::size_t kind = 0; kind < kinds; ++kind) {
    const bool far = kind % 2 == 1;
    usual_of_kind.push_back(of_kind[kind].size() < kLeastOfKind
                                ? 0
                                : usual_of(of_kind[kind], far, values, higher_is_better));
  }
  ratios.of.resize(all.size());
  ratios.settled.resize(all.size());
  for (std::size_t index = 0; index < all.size(); ++index) {
    const Measurement& m = all[index];
    if (!is_sound(m) || m.*value <= 0) continue;
    double expected = usual_of_kind[kind_of(m)];
    if (expected == 0) expected = ratios.usual[m.rail];
    if (expected <= 0) continue;
    ratios.of[index] = static_cast<float>(static_cast<double>(m.*value) / expected);
    ratios.settled[index] = static_cast<float>(static_cast<double>(values[index]) / expected);
  }
  return ratios;
}

}  // namespace gdr::fabric
