// What findings say, and what to type next.
#pragma once

#include <string>
#include <vector>

#include "fabric/judge/view.h"
#include "fabric/report.h"
#include "text/command.h"

namespace gdr::fabric {

std::string host_name(const Report& report, HostIndex host);
// "mlx5_3", else "rail 3".
std::string rail_name(const Report& report, HostIndex host, std::uint32_t rail);
// "n07 mlx5_3"
std::string cell_name(const View& view, std::uint32_t cell);
// The names of the fleet's rails: "mlx5_3 with GPU 3", else "rail 3".
std::string fleet_rail_name(const Report& report, std::uint32_t rail);
// "n[01-03]", or with more than a few "n[01-03], n07 and 12 more".
std::string hosts_text(const Report& report, std::vector<HostIndex> hosts);

std::string rate_text(double bits_per_second);  // "392 Gb/s"
std::string slower_text(double share);          // "15 % slower"
std::string percent_text(double share);         // "85 %"
std::string times_text(std::size_t count);      // "once", "3 times"

text::Command drain_command(const Report& report, const std::vector<HostIndex>& hosts,
                            const std::string& reason);

bool runs_under_slurm(const Report& report);

// The command to type about a finding whose other parts are there; empty: there is none.
text::Command next_command(const Report& report, const Finding& finding);

}  // namespace gdr::fabric
