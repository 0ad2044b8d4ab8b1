// What is no part of the choice: NICs that are for management, and devices that gdr does not
// support.
#pragma once

#include <cstddef>
#include <string>

#include "topo/report.h"

namespace gdr::topo {

// Empty where there is neither.
std::string others_text(const Report& report, std::size_t columns);

// "4 NICs for management", "8 GPUs and 2 NICs not supported here"; empty: none.
std::string others_count(const Report& report);

}  // namespace gdr::topo
