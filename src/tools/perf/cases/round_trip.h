// Latency: one request at a time. Reads and atomics are timed from posted to completed; sends and
// writes as half a round trip, the other side answering each with one of its own.
#pragma once

#include "perf/cases/receives.h"
#include "perf/cases/task.h"

namespace gdr::perf {

// Reads and atomics: the server has nothing to do.
void run_request_latency(Task& task, Outcome& outcome);
// Sends, writes with immediate; and writes where a CPU cannot look at the memory: the answer is
// known by its completion.
void run_message_latency(Task& task, Receives& receives, Outcome& outcome);
// Writes into host memory: the answer is known by its last byte, as programs that poll memory do.
void run_memory_latency(Task& task, Outcome& outcome);

}  // namespace gdr::perf
