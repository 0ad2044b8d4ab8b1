#include "perf/statistics/figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gdr::perf {

double quantile(std::span<const double> ascending, double share) {
  const double place = share * static_cast<double>(ascending.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, ascending.size() - 1);
  const double part = place - static_cast<double>(below);
  // Weighted, not added to the lower one: the difference of two large values may be infinite.
  return ascending[below] * (1 - part) + ascending[above] * part;
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return *std::max_element(values.begin(), middle) / 2 + *middle / 2;
}

Figure make_figure(std::vector<double> repetitions) {
  std::erase_if(repetitions, [](double value) { return !std::isfinite(value); });
  Figure figure;
  figure.repetitions = std::move(repetitions);
  if (figure.repetitions.empty()) return figure;

  std::vector<double> ascending = figure.repetitions;
  std::sort(ascending.begin(), ascending.end());
  figure.least = ascending.front();
  figure.most = ascending.back();
  figure.median = median_of(ascending);
  if (figure.median != 0) {
    const double width = quantile(ascending, 0.9) - quantile(ascending, 0.1);
    figure.spread = width / 2 / std::abs(figure.median);
  }
  return figure;
}

std::optional<std::string> noise_remark(const Figure& figure) {
  if (!(figure.spread > kNoisySpread)) return std::nullopt;
  const double percent = figure.spread * 100;
  return fmt::format("noisy: ±{:.{}f} % between repetitions", percent, percent < 10 ? 1 : 0);
}

}  // namespace gdr::perf
