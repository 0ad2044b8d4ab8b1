// A row's figures, from what both sides have counted.
//
//   fill_row(row, near, far, clock);
#pragma once

#include "perf/crew.h"
#include "perf/report.h"

namespace gdr::perf {

void fill_row(Row& row, const CrewOutcome& near, const Finish::Reply& far, const TickClock& clock);

}  // namespace gdr::perf
