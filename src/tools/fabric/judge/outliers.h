// Outliers: single measurements that are slow, though nothing explains them yet.
#pragma once

#include <cstddef>
#include <vector>

#include "fabric/judge/draft.h"

namespace gdr::fabric {

struct Outliers {
  std::vector<std::size_t> low;      // indexes of measurements
  std::vector<std::size_t> counted;  // all that could have been
};

Outliers outliers_of(const Analysis& analysis);

double median_share(const Analysis& analysis, const std::vector<std::size_t>& indexes);

// Candidates for retests: so many that a retest stays short.
std::vector<std::size_t> slowest(const Analysis& analysis, std::vector<std::size_t> indexes);
// The ones that are as slow as most of them: the slowest are those which something else disturbed.
std::vector<std::size_t> typical(const Analysis& analysis, std::vector<std::size_t> indexes);

// Hosts and cables that are slow in some rounds, more often than chance makes them.
void find_flapping(Analysis* analysis, Outliers* outliers);

}  // namespace gdr::fabric
