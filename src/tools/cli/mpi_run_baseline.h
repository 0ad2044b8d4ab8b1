// What `gdr perf` measures beside `gdr mpi run`: on this host, or between the first two hosts,
// where the same launcher starts it.
//
//   add_mpi_baseline(options, mpi, folder, interrupted, report);  // fills report.baseline
#pragma once

#include <atomic>
#include <string>

#include "cli/mpi_run_options.h"
#include "mpi/run/report.h"
#include "mpi/run/toolchain.h"

namespace gdr::cli {

// `folder`: private, and seen by all hosts.
void add_mpi_baseline(const MpiRunOptions& options, const mpi_run::Toolchain& mpi,
                      const std::string& folder, const std::atomic<bool>& interrupted,
                      mpi_run::Report& report);

}  // namespace gdr::cli
