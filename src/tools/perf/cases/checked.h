// Streams with --check: window after window, on both sides.
#pragma once

#include "perf/cases/receives.h"
#include "perf/cases/task.h"

namespace gdr::perf {

void run_checked_client(Task& task, Receives* receives, Outcome& outcome);
// Compares what arrives, as it arrives, and sends windows of its own when it is asked.
void run_checked_server(Task& task, Receives* receives, Outcome& outcome);

}  // namespace gdr::perf
