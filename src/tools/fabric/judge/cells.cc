#include "fabric/judge/cells.h"

#include <algorithm>
#include <cmath>

#include "fabric/judge/statistics.h"

namespace gdr::fabric {
namespace {

// Of so few cells, one that is bad and one that was disturbed are half. What these scatter by
// chance is known from their single measurements.
constexpr std::size_t kFew = 8;

// The median of n values scatters about 1.25 / sqrt(n) times as much as one value.
constexpr double kOfMedian = 1.2533;

}  // namespace

double slow_below(double centre, double deviation) {
  return centre * std::min(std::exp(-kDeviations * deviation / centre), 1 - kLeastSlowdown);
}

double late_above(double centre, double deviation) {
  return centre * std::max(std::exp(kDeviations * deviation / centre), 1 + kLeastDelay);
}

CellValues::CellValues(const View& view, Side side, const std::vector<float>& ratios,
                       const Select& select) {
  const std::vector<Measurement>& all = view.report().measurements;
  const bool sent = side != Side::kReceived, received = side != Side::kSent;
  std::vector<bool> takes_part(all.size());
  first_.assign(view.cells() + 1, 0);
  for (std::size_t index = 0; index < all.size(); ++index) {
    if (ratios[index] <= 0 || !select(all[index], index)) continue;
    takes_part[index] = true;
    if (sent) ++first_[view.sender(all[index]) + 1];
    if (received) ++first_[view.receiver(all[index]) + 1];
  }
  for (std::size_t cell = 1; cell < first_.size(); ++cell) first_[cell] += first_[cell - 1];
  values_.resize(first_.back());
  std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
  for (std::size_t index = 0; index < all.size(); ++index) {
    if (!takes_part[index]) continue;
    if (sent) values_[next[view.sender(all[index])]++] = ratios[index];
    if (received) values_[next[view.receiver(all[index])]++] = ratios[index];
  }
}

double CellValues::median(std::uint32_t cell, bool higher_is_better, std::size_t least) const {
  if (count(cell) < least) return 0;
  std::vector<float> own(values_.begin() + first_[cell], values_.begin() + first_[cell + 1]);
  return higher_is_better ? upper_median(&own) : lower_median(&own);
}

Medians medians_of(const View& view, const CellValues& values, bool higher_is_better,
                   double scatter) {
  Medians medians;
  medians.of.resize(view.cells());
  std::vector<float> known, counts;
  for (std::uint32_t cell = 0; cell < view.cells(); ++cell) {
    medians.of[cell] = values.median(cell, higher_is_better);
    if (medians.of[cell] == 0) continue;
    known.push_back(static_cast<float>(medians.of[cell]));
    counts.push_back(static_cast<float>(values.count(cell)));
  }
  if (known.empty()) return medians;
  medians.centre = higher_is_better ? upper_median(&known) : lower_median(&known);
  const double expected = kOfMedian * scatter / std::sqrt(lower_median(&counts));
  const double deviation =
      std::max(deviation_about(medians.centre, &known, known.size() < kFew), expected);
  if (medians.centre == 0) return medians;
  medians.slow_below = slow_below(medians.centre, deviation);
  medians.late_above = late_above(medians.centre, deviation);
  return medians;
}

double scatter_of(const View& view, const std::vector<float>& ratios, const Medians& medians,
                  bool higher_is_better) {
  const std::vector<Measurement>& all = view.report().measurements;
  std::vector<float> off;
  for (std::size_t index = 0; index < all.size(); ++index) {
    if (ratios[index] <= 0 || !view.counts(all[index])) continue;
    const double near = medians.of[view.sender(all[index])];
    const double far = medians.of[view.receiver(all[index])];
    if (near == 0 || far == 0) continue;
    const double expected = higher_is_better ? std::min(near, far) : std::max(near, far);
    off.push_back(static_cast<float>(static_cast<double>(ratios[index]) - expected));
  }
  return deviation_about(0, &off);
}

}  // namespace gdr::fabric
