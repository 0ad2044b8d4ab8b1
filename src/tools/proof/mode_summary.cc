#include "proof/mode_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace gdr::proof {

bool ModeSummary::takes(const Check& check) const {
  if (checks_.empty()) return true;
  const Check& first = checks_.front();
  return check.title == first.title && path_text(check) == path_text(first);
}

bool ModeSummary::is_uniform() const {
  const Check& first = checks_.front();
  if (first.status == Status::kFailed) return false;
  return std::ranges::all_of(checks_, [&](const Check& check) {
    return check.status == first.status && check.reason == first.reason;
  });
}

unsigned ModeSummary::transfers() const {
  return std::accumulate(checks_.begin(), checks_.end(), 0u,
                         [](unsigned sum, const Check& check) { return sum + check.transfers; });
}

std::uint64_t ModeSummary::least() const {
  return std::ranges::min_element(checks_, {}, &Check::least)->least;
}

std::uint64_t ModeSummary::most() const {
  return std::ranges::max_element(checks_, {}, &Check::most)->most;
}

std::string failure_text(const Check& check) {
  return fmt::format("{} of {} failed; {}: {}", check.failed, check.transfers, check.transfer,
                     check.reason);
}

std::vector<ModeSummary> summaries_of(const std::vector<Check>& checks) {
  std::vector<ModeSummary> modes;
  for (const Check& check : checks) {
    if (modes.empty() || !modes.back().takes(check)) modes.emplace_back();
    modes.back().add(check);
  }
  return modes;
}

}  // namespace gdr::proof
