// What several repetitions come to, and whether they agree with each other.
//
//   row.bandwidth = make_figure({12.1e9, 12.3e9, 12.2e9});
//   if (const auto remark = noise_remark(*row.bandwidth)) row.remarks.push_back(*remark);
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "perf/report.h"

namespace gdr::perf {

// The value that so large a share of them lies below, by linear interpolation between the two
// nearest. At least one value.
double quantile(std::span<const double> ascending, double share);
// The mean of the middle two of an even number. At least one value.
double median_of(std::vector<double> values);

// The repetitions stay in their order. Those that are not finite are left out: a rate over no time
// is none.
Figure make_figure(std::vector<double> repetitions);

// On a quiet machine repetitions lie within 1 or 2 %. People draw conclusions from a difference of
// twice this.
constexpr double kNoisySpread = 0.05;

// "noisy: ±12 % between repetitions", where the spread is above that.
std::optional<std::string> noise_remark(const Figure& figure);

}  // namespace gdr::perf
