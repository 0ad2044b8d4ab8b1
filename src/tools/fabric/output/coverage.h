// What a run has shown and what it has not, counted: the same numbers stand in the text, on the
// page and in the metrics.
//
//   const Coverage coverage = coverage_of(report);
//   fmt::print("{} of {} pairs of hosts\n", coverage.pairs_met, coverage.pairs);
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fabric/report.h"

namespace gdr::fabric {

struct Coverage {
  std::size_t hosts = 0;  // that took part: with rails, not left out
  std::size_t lost = 0;   // in any state but kThere
  std::uint64_t pairs = 0;
  std::uint64_t pairs_met = 0;      // of the hosts that took part; without retests
  std::uint64_t transfers[4] = {};  // by Outcome
  bool has_crossed_rails = false, has_bandwidth = false, has_latency = false;

  std::uint64_t of(Outcome outcome) const { return transfers[static_cast<int>(outcome)]; }
};
Coverage coverage_of(const Report& report);

// "mlx5_0 with GPU 0"; "rail 3" where the report has no name for it.
std::string rail_name(const Report& report, std::size_t rail);
// The rate that most links of a rail have, in bytes a second; 0: not known, as for software.
double link_rate(const Report& report, std::size_t rail);

// Medians of a host's rail over its partners, without retests and crossed rails. 0: not measured.
struct HostRail {
  double sent = 0, received = 0;  // bytes a second
  double latency = 0;             // nanoseconds, of what it asked for
  std::uint32_t transfers = 0;    // that count in `sent` and `received` together
};
// Entry host * rail_count + rail.
std::vector<HostRail> host_rails(const Report& report);

// Which parts were replaced by stand-ins: "RDMA NIC", "GPU", "RDMA NIC and GPU"; empty: none.
std::string stand_ins(const Report& report);

// Names that can tell hosts apart even where two hosts have the same: "n1", "n1#2".
std::vector<std::string> distinct_names(const Report& report);

}  // namespace gdr::fabric
