// The report as one page that needs nothing but itself: findings, a heatmap of all pairs of hosts,
// the fleet's figures. It asks no network, and may not: its own policy forbids it.
#pragma once

#include <string>

#include "fabric/report.h"

namespace gdr::fabric {

std::string to_html(const Report& report);

}  // namespace gdr::fabric
