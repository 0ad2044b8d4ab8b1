// What `gdr perf` measures between the NICs that the program used: the same sizes and kinds of
// memory, on this host.
//
//   report.baseline = measure_baseline(wishes, interrupted);
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "mpi/run/report.h"

namespace gdr::mpi_run {

struct BaselineWishes {
  std::string near, far;  // NICs; empty: perf's own choice
  std::vector<std::uint64_t> sizes;
  bool host = true, gpu = false;
  bool soft_nic = false, soft_gpu = false;
  std::string version;
};

Baseline measure_baseline(const BaselineWishes& wishes, const std::atomic<bool>& interrupted);

// The NICs of this host that most bytes left and reached while messages moved; empty: none.
struct UsedNics {
  std::string near, far;
};
UsedNics used_nics(const Program& program);

}  // namespace gdr::mpi_run
