// A log of NCCL is read by two: nccl::judge() says which way each connection went and why, and the
// recogniser knows the error texts of every program below. Here each tells what the other found.
//
//   add_symptoms(recogniser.finish(), report);  // for `gdr nccl check`
//   puts(connections_text(report, explanation));  // for `gdr explain`
#pragma once

#include <string>

#include "explain/recogniser.h"
#include "nccl/judge.h"

namespace gdr::explain {

// Puts what `report` does not tell already among its further errors; where nothing was connected,
// in front of its causes.
void add_symptoms(const Explanation& explanation, nccl::Report& report);

// Whether the log's connections say something that the symptoms do not: some go over a network
// without GPUDirect RDMA.
bool says_more(const nccl::Report& report);
// The verdict over the connections, and the causes whose line no symptom shows.
std::string connections_text(const nccl::Report& report, const Explanation& explanation);

}  // namespace gdr::explain
