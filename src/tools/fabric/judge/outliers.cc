#include "fabric/judge/outliers.h"

#include <algorithm>
#include <cmath>

#include "fabric/judge/statistics.h"

namespace gdr::fabric {
namespace {

constexpr std::size_t kMostPairs = 32;

}  // namespace

Outliers outliers_of(const Analysis& analysis) {
  const View& view = analysis.view;
  const std::vector<Measurement>& all = view.report().measurements;
  const double limit = analysis.outlier_below();
  Outliers outliers;
  for (std::size_t index = 0; index < all.size(); ++index) {
    const double ratio = static_cast<double>(view.bandwidths()[index]);
    if (ratio <= 0 || analysis.explained[index] || !view.counts(all[index])) continue;
    outliers.counted.push_back(index);
    if (ratio < limit) outliers.low.push_back(index);
  }
  return outliers;
}

double median_share(const Analysis& analysis, const std::vector<std::size_t>& indexes) {
  std::vector<float> ratios;
  for (const std::size_t index : indexes) ratios.push_back(analysis.view.bandwidths()[index]);
  const double centre = analysis.both.centre > 0 ? analysis.both.centre : 1;
  return upper_median(&ratios) / centre;
}

std::vector<std::size_t> slowest(const Analysis& analysis, std::vector<std::size_t> indexes) {
  std::ranges::sort(indexes, {}, [&](std::size_t index) {
    return std::pair(analysis.view.bandwidths()[index], index);
  });
  if (indexes.size() > kMostPairs) indexes.resize(kMostPairs);
  return indexes;
}

std::vector<std::size_t> typical(const Analysis& analysis, std::vector<std::size_t> indexes) {
  std::vector<float> ratios;
  for (const std::size_t index : indexes) ratios.push_back(analysis.view.bandwidths()[index]);
  const auto median = static_cast<float>(upper_median(&ratios));
  std::ranges::sort(indexes, {}, [&](std::size_t index) {
    return std::pair(std::abs(analysis.view.bandwidths()[index] - median), index);
  });
  if (indexes.size() > kMostPairs) indexes.resize(kMostPairs);
  return indexes;
}

}  // namespace gdr::fabric
