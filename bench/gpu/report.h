// Report: the rounds of every case and size, as a table, and the claims that they decide.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "cases.h"

namespace gdr::bench {

// Seconds of a transfer, a figure a round; of one size. Figures of one round stand at one index.
using Samples = std::array<std::vector<double>, kCases>;

void print_heading();
void print_samples(std::size_t bytes, const Samples& samples);
// Judges the transfers of 64 MiB; null if there were none.
void print_claims(const Samples* samples);

}  // namespace gdr::bench
