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

// It is about the speed, the latency or the bytes of what was sent.
bool is_about_transfers(const Finding& finding);
bool is_of_one_host(const Finding& finding);

// Whether the next command takes its host out of service: under Slurm, for a fault of the host's
// own that was measured on its hardware and seen again. Never for one that was only left out, did
// not come or was lost: that may be a setting, a version, or somebody who ended the process.
bool is_to_be_drained(const Report& report, const Finding& finding);

text::Command drain_command(const Report& report, const std::vector<HostIndex>& hosts,
                            const std::string& reason);

bool runs_under_slurm(const Report& report);

// The command to type about a finding whose other parts are there; empty: there is none.
text::Command next_command(const Report& report, const Finding& finding);

}  // namespace gdr::fabric
