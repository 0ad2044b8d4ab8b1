#include "fabric/schedule/schedule.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "fabric/schedule/pairing.h"
#include "fabric/schedule/random.h"

namespace gdr::fabric {
namespace {

// `count` different ones of first .. last-1, in random order; all of them where there are fewer.
std::vector<std::uint32_t> choose(std::uint32_t first, std::uint32_t last, std::uint32_t count,
                                  Random* random) {
  std::vector<std::uint32_t> numbers(last - first);
  std::iota(numbers.begin(), numbers.end(), first);
  random->shuffle(&numbers);
  if (numbers.size() > count) numbers.resize(count);
  return numbers;
}

}  // namespace

Schedule::Schedule(Pattern pattern, ScheduleOptions options, std::uint64_t seed)
    : pattern_(pattern), options_(std::move(options)) {
  options_.leaves.resize(options_.hosts, 0);
  options_.rails = std::max<std::uint16_t>(options_.rails, 1);
  place_hosts(seed);
  choose_rounds(seed + 1);
}

// Shifts and halves want neighbours to be neighbours on the fabric, so that routes do not collide
// (shift) and all traffic crosses the middle (bisection). In a tournament, random places make
// random rounds independent of how hosts are named.
void Schedule::place_hosts(std::uint64_t seed) {
  const std::uint32_t hosts = options_.hosts;
  places_.resize(hosts);
  std::iota(places_.begin(), places_.end(), 0U);
  if (hosts < 2) return;
  if (pattern_ == Pattern::kTournament || pattern_ == Pattern::kByLeaf) {
    Random random(seed);
    random.shuffle(&places_);
  }
  if (pattern_ != Pattern::kTournament) {
    std::ranges::stable_sort(places_, {}, [&](HostIndex host) { return options_.leaves[host]; });
  }
  switch (pattern_) {
    case Pattern::kTournament:
      steps_ = tournament_rounds(hosts);
      return;
    case Pattern::kShift:
      steps_ = hosts - 1;
      return;
    case Pattern::kBisection:
      left_.assign(places_.begin(), places_.begin() + hosts / 2);
      right_.assign(places_.begin() + hosts / 2, places_.end());
      steps_ = static_cast<std::uint32_t>(right_.size());
      return;
    case Pattern::kByLeaf:
      plan_leaves();
      return;
  }
}

void Schedule::plan_leaves() {
  for (const HostIndex host : places_) {
    if (members_.empty() || options_.leaves[members_.back().front()] != options_.leaves[host]) {
      members_.emplace_back();
    }
    members_.back().push_back(host);
  }
  for (const std::vector<HostIndex>& leaf : members_) {
    within_ = std::max(within_, tournament_rounds(static_cast<std::uint32_t>(leaf.size())));
  }
  steps_ = within_;
  std::vector<HostIndex> numbers(members_.size());
  std::iota(numbers.begin(), numbers.end(), 0U);
  const std::uint32_t rounds = tournament_rounds(static_cast<std::uint32_t>(members_.size()));
  for (std::uint32_t round = 0; round < rounds; ++round) {
    std::vector<Edge> pairs;
    add_tournament_round(numbers, round, &pairs);
    std::size_t longest = 0;
    for (const Edge& pair : pairs) longest = std::max(longest, members_[pair.from].size());
    leaf_rounds_.push_back({steps_, round});
    steps_ += static_cast<std::uint32_t>(longest);
  }
}

void Schedule::choose_rounds(std::uint64_t seed) {
  Random random(seed);
  const std::uint32_t most = options_.most_rounds;
  is_sampled_ = most != 0 && most < steps_;
  // Halves never meet within themselves.
  if (is_sampled_ && pattern_ == Pattern::kByLeaf && within_ > 0 && within_ < steps_) {
    // As many within leaves as between them, as far as there are.
    const std::uint32_t between = std::min(std::max(most / 2, 1U), steps_ - within_);
    chosen_ = choose(0, within_, most - between, &random);
    const std::vector<std::uint32_t> more =
        choose(within_, steps_, most - static_cast<std::uint32_t>(chosen_.size()), &random);
    chosen_.insert(chosen_.end(), more.begin(), more.end());
  } else if (is_sampled_) {
    chosen_ = choose(0, steps_, most, &random);
  }
  if (options_.rails > 1 && steps_ > 0) {
    for (std::uint32_t count = 0; count < options_.crossed_rounds; ++count) {
      crossed_.push_back(static_cast<std::uint32_t>(random.below(steps_)));
    }
  }
  is_sampled_ = is_sampled_ || (pattern_ == Pattern::kBisection && options_.hosts > 2);
}

std::uint32_t Schedule::aligned() const {
  if (!chosen_.empty()) return static_cast<std::uint32_t>(chosen_.size());
  if (steps_ == 0) return 0;
  // Whole repetitions, so that no pair counts more than another.
  return std::max((options_.least_rounds + steps_ - 1) / steps_, 1U) * steps_;
}

std::uint32_t Schedule::rounds() const {
  return (aligned() + static_cast<std::uint32_t>(crossed_.size())) *
         (options_.isolate ? options_.rails : 1U);
}

Round Schedule::round(std::uint32_t number) const {
  Round round{.number = number, .edges = {}, .only_rail = {}, .rail_shift = 0, .is_retest = false};
  std::uint32_t place = number;
  if (options_.isolate) {
    round.only_rail = static_cast<std::uint16_t>(number % options_.rails);
    place = number / options_.rails;
  }
  if (place < aligned()) {
    round.edges = edges(chosen_.empty() ? place % steps_ : chosen_[place]);
  } else if (place - aligned() < crossed_.size()) {
    // One shift after the other, so that a few rounds show as many ways across as they can.
    const std::uint32_t turn = place - aligned();
    round.rail_shift = static_cast<std::uint16_t>(1 + turn % (options_.rails - 1U));
    round.edges = edges(crossed_[turn]);
  }
  return round;
}

std::vector<Edge> Schedule::edges(std::uint32_t step) const {
  std::vector<Edge> edges;
  edges.reserve(options_.hosts);
  switch (pattern_) {
    case Pattern::kTournament:
      add_tournament_round(places_, step, &edges);
      break;
    case Pattern::kShift:
      add_shift_round(places_, step + 1, &edges);
      break;
    case Pattern::kBisection:
      add_crossing_round(left_, right_, step, &edges);
      break;
    case Pattern::kByLeaf:
      add_by_leaf(step, &edges);
      break;
  }
  return edges;
}

// A small leaf is done before a large one. It then rests if each pair is to meet once, and goes on
// from its first round if every host is to be busy in each of a few rounds.
void Schedule::add_by_leaf(std::uint32_t step, std::vector<Edge>* edges) const {
  const bool again = !chosen_.empty();
  if (step < within_) {
    for (const std::vector<HostIndex>& leaf : members_) {
      const std::uint32_t own = tournament_rounds(static_cast<std::uint32_t>(leaf.size()));
      if (own > 0 && (again || step < own)) add_tournament_round(leaf, step % own, edges);
    }
    return;
  }
  const auto after = std::ranges::upper_bound(leaf_rounds_, step, {}, &LeafRound::first);
  const LeafRound& meeting = *(after - 1);
  std::vector<HostIndex> numbers(members_.size());
  std::iota(numbers.begin(), numbers.end(), 0U);
  std::vector<Edge> pairs;
  add_tournament_round(numbers, meeting.number, &pairs);
  for (const Edge& pair : pairs) {
    if (pair.from > pair.to) continue;  // both directions come with one
    const std::size_t longest = std::max(members_[pair.from].size(), members_[pair.to].size());
    const std::uint32_t turn = step - meeting.first;
    if (again || turn < longest) {
      add_crossing_round(members_[pair.from], members_[pair.to], turn, edges);
    }
  }
}

}  // namespace gdr::fabric
