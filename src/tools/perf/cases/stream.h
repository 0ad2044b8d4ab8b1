// Bandwidth and message rate: as many requests under way as the depth allows, on every queue pair
// of a station, in one direction or both.
#pragma once

#include "perf/cases/receives.h"
#include "perf/cases/task.h"

namespace gdr::perf {

void run_stream(Task& task, Receives* receives, Outcome& outcome);

}  // namespace gdr::perf
