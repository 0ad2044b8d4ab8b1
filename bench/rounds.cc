#include "rounds.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace gdr::bench {

// Linear between neighbours; values may not be empty.
double quantile(std::vector<double> values, double where) {
  std::sort(values.begin(), values.end());
  const double at = where * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(at));
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - std::floor(at)) * (values[above] - values[below]);
}

}  // namespace gdr::bench
