// With --check: windows of messages, each as many as there are places for them. The client fills
// them, sends them as fast as it can, which is what is timed, and has every byte compared before
// the next window: by the server where the data went there, by itself where it came from there.
#pragma once

#include "perf/cases/receives.h"
#include "perf/cases/task.h"
#include "perf/cases/verifier.h"

namespace gdr::perf {

void run_checked_client(Task& task, Outcome& outcome);
// Of sends and writes with immediate: compares what arrives, as it arrives.
void run_checked_server(Task& task, Receives& receives, Outcome& outcome);

}  // namespace gdr::perf
