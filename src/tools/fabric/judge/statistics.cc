#include "fabric/judge/statistics.h"

#include <algorithm>
#include <cmath>

namespace gdr::fabric {
namespace {

constexpr double kOfNormal = 1.4826;  // 1 / (the third quartile of the normal distribution)

double value_at(std::size_t place, std::vector<float>* values) {
  if (values->empty()) return 0;
  const auto middle = values->begin() + static_cast<std::ptrdiff_t>(place);
  std::nth_element(values->begin(), middle, values->end());
  return static_cast<double>(*middle);
}

}  // namespace

double upper_median(std::vector<float>* values) { return value_at(values->size() / 2, values); }

double lower_median(std::vector<float>* values) {
  return values->empty() ? 0 : value_at((values->size() - 1) / 2, values);
}

double deviation_about(double centre, std::vector<float>* values, bool is_low) {
  for (float& value : *values) value = std::abs(value - static_cast<float>(centre));
  return kOfNormal * (is_low ? lower_median(values) : upper_median(values));
}

FleetFigure figure_of(std::vector<float>* values) {
  FleetFigure figure;
  if (values->empty()) return figure;
  const auto [least, most] = std::ranges::minmax(*values);
  figure.least = static_cast<double>(least);
  figure.most = static_cast<double>(most);
  figure.median = (lower_median(values) + upper_median(values)) / 2;
  figure.deviation = deviation_about(figure.median, values);
  return figure;
}

double chance_of_at_least(std::size_t count, std::size_t tries, double each) {
  if (count == 0) return 1;
  const double expected = static_cast<double>(tries) * each;
  if (expected <= 0) return 0;
  // The sum from `count` on, whose terms fall fast where it matters.
  const auto first = static_cast<double>(count);
  double term = std::exp(first * std::log(expected) - expected - std::lgamma(first + 1));
  double sum = 0;
  for (double number = first; term > sum * 1e-9 || number < expected; ++number) {
    sum += term;
    term *= expected / (number + 1);
  }
  return std::min(sum, 1.0);
}

double chance_of_at_least_exactly(std::size_t count, std::size_t tries, double each) {
  if (count == 0 || each >= 1) return 1;
  if (each <= 0) return 0;
  const auto all = static_cast<double>(tries);
  double sum = 0;
  for (std::size_t number = count; number <= tries; ++number) {
    const auto some = static_cast<double>(number);
    sum += std::exp(std::lgamma(all + 1) - std::lgamma(some + 1) - std::lgamma(all - some + 1) +
                    some * std::log(each) + (all - some) * std::log1p(-each));
  }
  return std::min(sum, 1.0);
}

}  // namespace gdr::fabric
