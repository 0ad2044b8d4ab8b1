// Robust statistics, and how surprising a count is.
#pragma once

#include <cstddef>
#include <vector>

#include "fabric/report.h"

namespace gdr::fabric {

// Of an even number of values, the higher one (upper) or the lower one (lower) of the two in the
// middle: never a value between a good and a bad one. 0 where there are none. The order of the
// values changes.
double upper_median(std::vector<float>* values);
double lower_median(std::vector<float>* values);

// 1.4826 times the median absolute deviation: for a normal distribution, its standard deviation,
// whatever a few values far away do.
// `is_low`: of an even number of deviations, the lower one of the two in the middle.
double deviation_about(double centre, std::vector<float>* values, bool is_low = false);

// With the usual median, the mean of the two in the middle.
FleetFigure figure_of(std::vector<float>* values);

// How likely `count` or more of `tries` are, if one of them has probability `each` (Poisson).
double chance_of_at_least(std::size_t count, std::size_t tries, double each);

// The same exactly (binomial), also where `each` is not small.
double chance_of_at_least_exactly(std::size_t count, std::size_t tries, double each);

}  // namespace gdr::fabric
