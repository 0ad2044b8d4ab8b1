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

// Pairs in groups of which none has a host twice.
std::vector<std::vector<Edge>> apart(std::vector<Edge> pairs) {
  // A pair whose two directions are both suspect is one pair.
  for (Edge& pair : pairs) {
    if (pair.from > pair.to) std::swap(pair.from, pair.to);
  }
  std::ranges::sort(pairs, {}, [](const Edge& pair) { return std::pair(pair.from, pair.to); });
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  std::erase_if(pairs, [](const Edge& pair) { return pair.from == pair.to; });
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
  const std::vector<std::vector<Edge>> groups = apart(plan.pairs);
  for (std::uint32_t time = 0; time < plan.times; ++time) {
    for (const std::vector<Edge>& group : groups) {
      std::vector<Edge> edges;
      for (const Edge& pair : group) add_both_ways(pair, &edges);
      add_round(plan, std::move(edges), &rounds);
    }
  }
  return rounds;
}

}  // namespace gdr::fabric
