// What `gdr mpi run` is told on its command line.
//
//   auto options = std::make_shared<MpiRunOptions>();
//   add_mpi_run_options(command, *options);
//   read_mpi_run_values(*options);  // in the command's callback
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/report_files.h"
#include "mpi/run/launch.h"

namespace gdr::cli {

struct MpiRunOptions {
  std::uint32_t ranks = 2, repeats = 5;
  std::string hosts, launcher = "mpirun", mpirun, mpicc, sizes, measures, memory = "host,gpu";
  std::string gpu_pointers = "auto", duration = "0.2", time_limit = "5m", folder;
  std::vector<std::string> launcher_options;
  ReportFiles reports{{".json", ".csv", ".html"}};
  bool soft = false, require_hardware = false, no_perf = false, json = false, verbose = false;

  // Read from the above.
  std::vector<std::uint64_t> size_list{8, 4096, 65536, 1 << 20, 4 << 20};
  std::uint64_t duration_nanoseconds = 0, limit_nanoseconds = 0;
  bool wants_host = false, wants_gpu = false;
  mpi_run::LaunchWishes launch;
};

void add_mpi_run_options(CLI::App& command, MpiRunOptions& options);
// Every value is judged here, so that wrong use costs nothing but its one line.
void read_mpi_run_values(MpiRunOptions& options);

}  // namespace gdr::cli
