// Leaves by latency: a path under one leaf has one switch, a path across leaves three or more.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "fabric/topology/locate.h"

namespace gdr::fabric {
namespace {

// Two more switches make a fabric's latency at least this much longer.
constexpr double kLeastGap = 1.10;
// Neither group may be just the tail of the other.
constexpr std::size_t kLeastOfGroup = 3;
constexpr double kLeastShare = 0.02;
// So few pairs may contradict the groups, and so many hosts must be in one.
constexpr double kMostWrong = 0.02, kLeastPlaced = 0.9;

struct TimedPair {
  HostIndex one = 0, other = 0;
  float latency = 0;  // the least that was measured: noise only adds
};

std::vector<TimedPair> pairs_of(const Report& report) {
  std::unordered_map<std::uint64_t, float> least;
  for (const Measurement& m : report.measurements) {
    if (m.latency <= 0 || m.rail != m.far_rail) continue;
    if (m.from >= report.hosts.size() || m.to >= report.hosts.size() || m.from == m.to) continue;
    const auto [low, high] = std::minmax(m.from, m.to);
    float& known = least[(std::uint64_t{low} << 32) | high];
    known = known == 0 ? m.latency : std::min(known, m.latency);
  }
  std::vector<TimedPair> pairs;
  pairs.reserve(least.size());
  for (const auto& [key, latency] : least) {
    pairs.push_back(
        {static_cast<HostIndex>(key >> 32), static_cast<HostIndex>(key & UINT32_MAX), latency});
  }
  std::ranges::sort(pairs, {}, [](const TimedPair& pair) {
    return std::tuple(pair.latency, pair.one, pair.other);
  });
  return pairs;
}

// How many of the sorted pairs are near; 0: they are not clearly apart.
std::size_t count_near(const std::vector<TimedPair>& pairs) {
  const std::size_t least = std::max(
      kLeastOfGroup,
      static_cast<std::size_t>(std::ceil(kLeastShare * static_cast<double>(pairs.size()))));
  if (pairs.size() < 2 * least) return 0;
  std::size_t near = 0;
  double widest = 0;
  for (std::size_t place = least; place + least <= pairs.size(); ++place) {
    const auto below = static_cast<double>(pairs[place - 1].latency);
    const double gap = static_cast<double>(pairs[place].latency) / below;
    if (gap <= widest) continue;
    widest = gap;
    near = place;
  }
  if (widest < kLeastGap) return 0;
  // Within the near ones, nothing may be as far apart: three groups are no leaves that are known.
  const double spread = static_cast<double>(pairs[near - 1].latency - pairs[near / 2].latency);
  const double gap = static_cast<double>(pairs[near].latency - pairs[near - 1].latency);
  return spread < gap ? near : 0;
}

class Groups {
 public:
  explicit Groups(std::size_t hosts) : parent_(hosts) {
    std::iota(parent_.begin(), parent_.end(), HostIndex{0});
  }
  HostIndex root(HostIndex host) {
    while (parent_[host] != host) host = parent_[host] = parent_[parent_[host]];
    return host;
  }
  void join(HostIndex one, HostIndex other) { parent_[root(one)] = root(other); }

 private:
  std::vector<HostIndex> parent_;
};

}  // namespace

std::vector<std::string> group_by_latency(const Report& report) {
  const std::vector<TimedPair> pairs = pairs_of(report);
  const std::size_t near = count_near(pairs);
  if (near == 0) return {};
  Groups groups(report.hosts.size());
  for (std::size_t place = 0; place < near; ++place)
    groups.join(pairs[place].one, pairs[place].other);
  // Far pairs in one group mean that what joined it was no leaf.
  std::size_t wrong = 0;
  for (std::size_t place = near; place < pairs.size(); ++place) {
    if (groups.root(pairs[place].one) == groups.root(pairs[place].other)) ++wrong;
  }
  if (static_cast<double>(wrong) > kMostWrong * static_cast<double>(pairs.size() - near)) return {};
  std::vector<std::size_t> size(report.hosts.size());
  for (HostIndex host = 0; host < size.size(); ++host) ++size[groups.root(host)];
  std::vector<std::string> names(report.hosts.size());
  std::unordered_map<HostIndex, std::size_t> numbers;
  std::size_t placed = 0;
  for (HostIndex host = 0; host < names.size(); ++host) {
    const HostIndex root = groups.root(host);
    if (size[root] < 2) continue;
    const std::size_t number = numbers.try_emplace(root, numbers.size() + 1).first->second;
    names[host] = fmt::format("group {}", number);
    ++placed;
  }
  const bool enough =
      static_cast<double>(placed) >= kLeastPlaced * static_cast<double>(names.size());
  return enough && numbers.size() > 1 ? names : std::vector<std::string>{};
}

}  // namespace gdr::fabric
