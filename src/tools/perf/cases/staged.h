// Through host memory, as without GPUDirect: out of the GPU into pinned memory, from there over the
// network, and on the other side the same backwards. Several buffers rotate, so that copying and
// sending go on at once. A message counts when it lies where it belongs.
#pragma once

#include "perf/cases/receives.h"
#include "perf/cases/task.h"

namespace gdr::perf {

void run_staged(Task& task, Receives& receives, Outcome& outcome);

}  // namespace gdr::perf
