// Limits: what a row's figure is to be seen beside, and one sentence where it is low and a reason
// for that is known. No input or output: everything is judged from facts.
//
//   row.limits = limits_of(row.load, near, far, row.bandwidth->median);
//
// Nearest first: the one of which most was reached. What was exceeded limits this row no more
// (messages that stay in a cache against copies through memory) and comes behind, and what is there
// for comparison only comes last.
#pragma once

#include <vector>

#include "perf/limits/facts.h"
#include "perf/load.h"
#include "perf/report.h"

namespace gdr::perf {

// Below this share there is advice. Packets' headers, PCIe's acknowledgements and flow control,
// which limits leave out, take about a tenth; the other tenth is for what is nobody's fault.
constexpr double kLowShare = 0.8;
// Messages below this many bytes are limited by their number, whatever links and packets do.
constexpr std::uint64_t kLeastForLinks = 4096;

// `reached`: bytes a second, of both directions together; the load's directions are taken into
// account. None for latency, which no rate limits.
std::vector<Limit> limits_of(const Load& load, const Facts& near, const Facts& far, double reached);

}  // namespace gdr::perf
