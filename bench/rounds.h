// Rounds: what was measured and its limit, by turns, so that a change of the machine's load meets
// both; figures are medians, spread is the middle 80 % of the rounds' own ratios.
//
//   Rounds rounds;
//   rounds.add(seconds_per_write, seconds_per_bare_write);
//   rounds.median_ratio();  // measured / limit
#pragma once

#include <chrono>
#include <vector>

namespace gdr::bench {

double quantile(std::vector<double> values, double where);

// Seconds that one of `count` calls took.
template <typename Call>
double seconds_each(int count, Call&& call) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < count; ++i) call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / count;
}

class Rounds {
 public:
  void add(double measured, double limit) {
    measured_.push_back(measured);
    limit_.push_back(limit);
    ratios_.push_back(measured / limit);
  }
  bool empty() const { return ratios_.empty(); }
  std::size_t size() const { return ratios_.size(); }
  double measured() const { return quantile(measured_, 0.5); }
  double limit() const { return quantile(limit_, 0.5); }
  const std::vector<double>& ratios() const { return ratios_; }
  // Quantile of measured / limit.
  double ratio(double where = 0.5) const { return quantile(ratios_, where); }

 private:
  std::vector<double> measured_, limit_, ratios_;
};

}  // namespace gdr::bench
