// The report as text: the verdict first, then findings, the worst first, then the fleet's figures,
// lost hosts, and what was not tested. Its length does not grow with the number of hosts.
//
//   fmt::print("{}", to_text(report, text::Style::of(stdout)));
#pragma once

#include <string>

#include "fabric/report.h"
#include "text/style.h"

namespace gdr::fabric {

std::string to_text(const Report& report, const text::Style& style);

}  // namespace gdr::fabric
