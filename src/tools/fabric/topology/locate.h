// Which leaf each host of a run hangs at, from whatever is known of it.
//
//   for (const std::string& note : locate(texts, &report)) puts(note.c_str());
//   options.leaves = leaf_numbers(report);
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fabric/report.h"

namespace gdr::fabric {

// What others wrote; empty: it is not there.
struct TopologyTexts {
  std::string topology_yaml,
      topology_conf;  // of Slurm; where there are both, Slurm reads the first
  std::string ibnetdiscover;
};

// Fills in Report::topology, Host::leaf and Rail::leaf from the first of these that knows most
// hosts: Slurm's topology, ibnetdiscover, what LLDP said on each host, and latency, once it is
// measured. It may be called before the measurements and again behind them. Returns a sentence for
// each source that could not be used.
std::vector<std::string> locate(const TopologyTexts& texts, Report* report);

// Groups of hosts by latency, as names "group 1"; empty: pairs do not fall into two groups that are
// clearly apart, or near pairs do not join hosts into groups.
std::vector<std::string> group_by_latency(const Report& report);

// A number for each host's leaf, as the schedule wants it. Empty: nothing is known.
std::vector<std::uint32_t> leaf_numbers(const Report& report);

}  // namespace gdr::fabric
