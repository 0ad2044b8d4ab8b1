// The PCI tree as a drawing that needs nothing but itself: an SVG document without scripts, whose
// text can be selected, readable on light and dark.
#pragma once

#include <string>

#include "topo/report.h"

namespace gdr::topo {

// `all`: every function of the machine, not only the ways to its devices.
std::string to_svg(const Report& report, bool all);

}  // namespace gdr::topo
