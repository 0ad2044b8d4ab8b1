// Every name of every GPU, NIC and port, side by side.
#pragma once

#include <cstddef>
#include <string>

#include "topo/report.h"

namespace gdr::topo {

// Empty where there is neither GPU nor NIC; the software NICs are in it too.
std::string names_text(const Report& report, std::size_t columns);

}  // namespace gdr::topo
