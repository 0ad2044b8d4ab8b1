#include "fabric/schedule/retest.h"

#include <algorithm>
#include <unordered_set>

#include "fabric/schedule/random.h"

namespace gdr::fabric {
namespace {

void add_round(const RetestPlan& plan, std::vector<Edge> edges, std::vector<Round>* rounds) {
  if (edges.empty()) return;
  rounds->push_back({.number = plan.first_number + static_cast<std::uint32_t>(rounds->size()),
                     .edges = std::move(edges),
                     .only_rail = {},
                     .rail_shift = 0,
                     .is_retest = true});
}

void add_both_ways(const Edge& pair, std::vector<Edge>* edges) {
  edges->push_back({pair.from, pair.to});
  edges->push_back({pair.to, pair.from});
}

// A pair whose two directions are both suspect is one pair.
std::vector<Edge> without_repetitions(std::vector<Edge> pairs) {
  for (Edge& pair : pairs) {
    if (pair.from > pair.to) std::swap(pair.from, pair.to);
  }
  std::ranges::sort(pairs, {}, [](const Edge& pair) { return std::pair(pair.from, pair.to); });
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  std::erase_if(pairs, [](const Edge& pair) { return pair.from == pair.to; });
  return pairs;
}

// Pairs in groups of which none has a host twice.
std::vector<std::vector<Edge>> apart(std::vector<Edge> pairs) {
  std::vector<std::vector<Edge>> groups;
  while (!pairs.empty()) {
    std::unordered_set<HostIndex> busy;
    std::vector<Edge> group, rest;
    for (const Edge& pair : pairs) {
      const bool free = !busy.contains(pair.from) && !busy.contains(pair.to);
      (free ? group : rest).push_back(pair);
      if (free) busy.insert({pair.from, pair.to});
    }
    groups.push_back(std::move(group));
    pairs = std::move(rest);
  }
  return groups;
}

// Pairs that met on an uplink were slow together, are suspect together, and would meet again each
// time. So each time they are divided by another digit of their numbers: any two of them are in
// different rounds at least once, if the base of the digits is large enough.
std::size_t base_for(std::size_t pairs, std::uint32_t times) {
  constexpr std::size_t kMost = 8;  // a retest stays short
  if (times < 2) return 1;
  std::size_t base = 1;
  const auto numbers = [&] {
    std::size_t all = 1;
    for (std::uint32_t time = 0; time < times && all < pairs; ++time) all *= base;
    return all;
  };
  while (base < kMost && numbers() < pairs) ++base;
  return base;
}

}  // namespace

std::vector<Round> retest_rounds(const RetestPlan& plan, std::uint64_t seed) {
  std::vector<HostIndex> good = plan.good;
  Random random(seed);
  random.shuffle(&good);
  std::vector<Round> rounds;
  // Each time, everybody's partner is the next one of the circle of good hosts.
  for (std::uint32_t time = 0; time < plan.times && !good.empty(); ++time) {
    for (std::size_t first = 0; first < plan.suspects.size(); first += good.size()) {
      const std::size_t count = std::min(good.size(), plan.suspects.size() - first);
      std::vector<Edge> edges;
      for (std::size_t place = 0; place < count; ++place) {
        add_both_ways({plan.suspects[first + place], good[(place + time) % good.size()]}, &edges);
      }
      for (std::size_t pair = 0; pair < plan.controls && count + 2 * pair + 2 <= good.size();
           ++pair) {
        const std::size_t place = count + 2 * pair + time;
        add_both_ways({good[place % good.size()], good[(place + 1) % good.size()]}, &edges);
      }
      add_round(plan, std::move(edges), &rounds);
    }
  }
  const std::vector<Edge> pairs = without_repetitions(plan.pairs);
  const std::size_t base = base_for(pairs.size(), plan.times);
  std::size_t weight = 1;
  for (std::uint32_t time = 0; time < plan.times; ++time) {
    for (std::size_t digit = 0; digit < base; ++digit) {
      std::vector<Edge> own;
      for (std::size_t number = 0; number < pairs.size(); ++number) {
        if (number / weight % base == digit) own.push_back(pairs[number]);
      }
      for (const std::vector<Edge>& group : apart(std::move(own))) {
        std::vector<Edge> edges;
        for (const Edge& pair : group) add_both_ways(pair, &edges);
        add_round(plan, std::move(edges), &rounds);
      }
    }
    weight *= base;
  }
  return rounds;
}

}  // namespace gdr::fabric
