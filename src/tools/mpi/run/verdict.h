// The answer: one sentence from the program's rows, the counters of NICs and ranks, and what
// `gdr perf` measures between the same NICs. No I/O.
//
//   report.verdict = judge(report);
#pragma once

#include "mpi/run/report.h"

namespace gdr::mpi_run {

Verdict judge(const Report& report);

// Of the two GPU pairs the direct one beside the staged one, of the largest size that both have; of
// `measure`. Nothing where one is missing.
std::optional<double> times_staging(const Program& program, Measure measure);

// What is compared with `gdr perf`: bandwidth between two memories of the same kind.
std::optional<double> share_of_nic(const Program& program, const Baseline& baseline, Memory memory);

}  // namespace gdr::mpi_run
