// What the first screen of gdr topo shows: whether it is good, what to do first, and the NIC for
// each GPU.
#pragma once

#include <string>

#include "text/style.h"
#include "topo/report.h"

namespace gdr::topo {

// The verdict and its steps, each command on a line of its own that is never broken.
std::string verdict_text(const Report& report, const text::Style& style);

// The table of the best NICs; empty where there is no GPU.
std::string best_text(const Report& report, const text::Style& style);

}  // namespace gdr::topo
