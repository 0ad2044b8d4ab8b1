// The PCI tree as lines for a terminal.
#pragma once

#include <cstddef>
#include <string>

#include "topo/report.h"

namespace gdr::topo {

// `all`: every function of the machine, not only the ways to its devices.
std::string tree_text(const Report& report, bool all, std::size_t columns);

}  // namespace gdr::topo
