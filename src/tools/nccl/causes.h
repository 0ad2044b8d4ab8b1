// Why GPUDirect RDMA is missing, from the log's own words. Each cause is one function in one of the
// files causes_*.cc, and stands in the table of causes.cc in the order in which they are told.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "nccl/judge.h"

namespace gdr::nccl {

struct Case {
  const Log& log;
  const Counts& counts;
  Verdict verdict;
};

using FindCause = std::optional<Cause> (*)(const Case&);

std::vector<Cause> causes_of_absence(const Case& found);
// Why a network is used where none was expected.
std::vector<Cause> causes_of_network(const Case& found);
// Failures that are worth telling even where the expectation is met.
std::vector<Cause> errors_of(const Case& found);

// NCCL went by another network than InfiniBand or RoCE, or by none.
std::span<const FindCause> network_causes();
// The NIC is used, but does not reach the GPU's memory.
std::span<const FindCause> gdr_causes();
// What a log that lacks the answer lacks.
std::span<const FindCause> log_causes();

// The settings with which NCCL logs everything that is read here.
inline constexpr const char* kDebugLevel = "INFO";
inline constexpr const char* kDebugSubsystems = "INIT,NET,ENV,GRAPH";
text::Command debug_settings();

}  // namespace gdr::nccl
