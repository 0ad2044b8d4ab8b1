// Whether two sets of repetitions differ, by how much, and how sure that is.
//
//   const Difference found = difference(before, after, seed);
//   if (found.is_shown()) fmt::print("{:+.1f} %\n", found.share * 100);
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace gdr::perf {

struct Interval {
  double low = 0, high = 0;
};

constexpr double kConfidence = 0.95;

struct Difference {
  double share = 0;   // the median of the other ones by that of the base, less one
  Interval interval;  // of it, at 95 %: bootstrap of both medians
  double p = 1;       // Mann-Whitney

  // Both agree. The interval of a few repetitions is narrower than it should be, and p says nothing
  // of the medians.
  bool is_shown() const { return p < 1 - kConfidence && (interval.low > 0 || interval.high < 0); }
};

// At least one value in each, all above zero. The same seed gives the same interval everywhere.
Difference difference(std::span<const double> base, std::span<const double> other,
                      std::uint64_t seed);

// How often two sets from one source would be as far apart as these are, or farther, either way.
// Exact up to 32 values each where none occurs twice; else by the normal distribution, with
// corrections for continuity and for ties.
double mann_whitney_p(std::span<const double> a, std::span<const double> b);

// The least that mann_whitney_p can say of so many values: 3 and 3 never show a difference.
double least_p(std::size_t a, std::size_t b);

}  // namespace gdr::perf
