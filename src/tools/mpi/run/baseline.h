// What `gdr perf` measures between the NICs that the program used, with the same sizes and kinds of
// memory: on this host, or between two.
//
//   report.baseline = measure_baseline(wishes, interrupted);
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "mpi/run/report.h"

namespace gdr::mpi_run {

struct BaselineWishes {
  std::string near, far;  // NICs; empty: perf's own choice
  std::vector<std::uint64_t> sizes;
  bool host = true, gpu = false;
  bool soft_nic = false, soft_gpu = false;
  std::string server, secret;  // the other side's host, and a file that both see; empty: this host
  std::string version;
};

Baseline measure_baseline(const BaselineWishes& wishes, const std::atomic<bool>& interrupted);

// Serves the other side of it, until interrupted.
Result<void> serve_baseline(const BaselineWishes& wishes, const std::atomic<bool>& interrupted);

// One line of JSON and back, for a client that the launcher has started elsewhere.
std::string baseline_line(const Baseline& baseline);
Result<Baseline> read_baseline(std::string_view line);

// The NICs of this host that most bytes left and reached while messages moved; empty: none.
struct UsedNics {
  std::string near, far;
};
UsedNics used_nics(const Program& program);
// With ranks on several hosts: of the first two. Empty: what moved was no use, or is not known.
UsedNics used_nics_of_two_hosts(const Program& program);

}  // namespace gdr::mpi_run
