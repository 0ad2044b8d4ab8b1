#include "perf/statistics/significance.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "perf/statistics/figure.h"

namespace gdr::perf {
namespace {

constexpr std::size_t kMostExact = 32;  // the ways to part 64 values still fit 64 bits
constexpr double kTail = (1 - kConfidence) / 2;

// More change an interval by less than a tenth of its width. Long sets, which come from files only,
// are drawn from less often, so that the time grows no faster than they do.
constexpr std::size_t kMostResamples = 4'000, kLeastResamples = 100, kDraws = 2'000'000;

double resampled_median(std::span<const double> values, std::mt19937_64& random,
                        std::vector<double>& room) {
  room.resize(values.size());
  // The standard's own distributions differ between libraries, and the bias is below 2^-40.
  for (double& value : room) value = values[random() % values.size()];
  return median_of(room);
}

Interval bootstrap(std::span<const double> base, std::span<const double> other,
                   std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::size_t count =
      std::clamp(kDraws / (base.size() + other.size()), kLeastResamples, kMostResamples);
  std::vector<double> shares(count), room;
  for (double& share : shares) {
    const double from = resampled_median(base, random, room);
    share = resampled_median(other, random, room) / from - 1;
  }
  std::sort(shares.begin(), shares.end());
  return {quantile(shares, kTail), quantile(shares, 1 - kTail)};
}

struct Value {
  double value = 0;
  bool of_a = false;
};

struct Ranks {
  double u = 0;     // pairs in which the value of `a` is the larger one; ties count half
  double ties = 0;  // sum of t^3 - t over the groups of equal values
};

Ranks rank(std::span<const double> a, std::span<const double> b) {
  std::vector<Value> all;
  for (double value : a) all.push_back({value, true});
  for (double value : b) all.push_back({value, false});
  std::sort(all.begin(), all.end(),
            [](const Value& x, const Value& y) { return x.value < y.value; });

  Ranks ranks;
  double b_below = 0;
  for (auto from = all.begin(); from != all.end();) {
    const auto to =
        std::find_if(from, all.end(), [&](const Value& v) { return v.value != from->value; });
    const auto count = static_cast<double>(to - from);
    const auto a_here =
        static_cast<double>(std::count_if(from, to, [](const Value& v) { return v.of_a; }));
    ranks.u += a_here * (b_below + (count - a_here) / 2);
    ranks.ties += count * count * count - count;
    b_below += count - a_here;
    from = to;
  }
  return ranks;
}

// counts[u]: in how many ways the values of two sets can lie among each other so that U is u. They
// are the coefficients of the product of (1 - q^(b + i)) / (1 - q^i) over i = 1 ... a.
std::vector<std::int64_t> count_ways(std::size_t a, std::size_t b) {
  std::vector<std::int64_t> counts(a * b + 1);
  counts[0] = 1;
  for (std::size_t i = 1; i <= a; ++i) {
    for (std::size_t u = counts.size(); u-- > b + i;) counts[u] -= counts[u - b - i];
    for (std::size_t u = i; u < counts.size(); ++u) counts[u] += counts[u - i];
  }
  return counts;
}

double exact_p(std::size_t a, std::size_t b, double u) {
  const std::vector<std::int64_t> counts = count_ways(a, b);
  const double least = std::min(u, static_cast<double>(a * b) - u);
  double total = 0, tail = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    total += static_cast<double>(counts[i]);
    if (static_cast<double>(i) <= least) tail += static_cast<double>(counts[i]);
  }
  return std::min(1.0, 2 * tail / total);
}

double normal_p(double a, double b, const Ranks& ranks) {
  const double all = a + b;
  const double variance = a * b / 12 * (all + 1 - ranks.ties / (all * (all - 1)));
  if (!(variance > 0)) return 1;  // all are equal
  const double distance = std::abs(ranks.u - a * b / 2) - 0.5;
  return std::min(1.0, std::erfc(distance / std::sqrt(variance) / std::sqrt(2.0)));
}

}  // namespace

Difference difference(std::span<const double> base, std::span<const double> other,
                      std::uint64_t seed) {
  Difference found;
  found.share = median_of({other.begin(), other.end()}) / median_of({base.begin(), base.end()}) - 1;
  found.interval = bootstrap(base, other, seed);
  found.p = mann_whitney_p(base, other);
  return found;
}

double mann_whitney_p(std::span<const double> a, std::span<const double> b) {
  if (a.empty() || b.empty()) return 1;
  const Ranks ranks = rank(a, b);
  if (ranks.ties == 0 && a.size() <= kMostExact && b.size() <= kMostExact) {
    return exact_p(a.size(), b.size(), ranks.u);
  }
  return normal_p(static_cast<double>(a.size()), static_cast<double>(b.size()), ranks);
}

double least_p(std::size_t a, std::size_t b) {
  if (a == 0 || b == 0) return 1;
  if (a <= kMostExact && b <= kMostExact) return exact_p(a, b, 0);
  return normal_p(static_cast<double>(a), static_cast<double>(b), {});
}

}  // namespace gdr::perf
