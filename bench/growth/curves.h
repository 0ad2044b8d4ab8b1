// The curves: each measures at every count in turn and prints a line of figures for it.
#pragma once

#include <cstdint>
#include <span>

#include "child.h"
#include "link.h"

namespace gdr::bench {

using Counts = std::span<const std::uint32_t>;
enum class Effort { kFull, kQuick };

// Queue pairs between two processes, each with a completion queue of its own: `what` is
// "queue-pairs", or "connections" when GDR_SOFT_PATH=packets has them carried by packets.
void measure_queue_pairs(const char* what, Counts counts, Effort effort);
// `what`: "registrations", or "gpu-registrations" of GPU memory.
void measure_registrations(const char* what, Counts counts, SliceMemory memory);
void measure_processes(Counts counts);

// One of the processes of the last.
int run_member(const Socket& socket);

}  // namespace gdr::bench
