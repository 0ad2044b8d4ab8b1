// The judgement of a run: what its measurements say of hosts, NICs, cables, leaves and spines. No
// input or output, no clock.
//
//   Suspicion suspicion = suspect(report);       // after the planned rounds
//   run(retest_rounds({.suspects = suspicion.hosts, .pairs = suspicion.pairs,
//                      .good = suspicion.good}, seed));
//   judge(&report);                              // fills in fleet and findings
//   add_examination(&report, host, examined);    // what the host says of itself
#pragma once

#include <string>
#include <vector>

#include "fabric/messages.h"
#include "fabric/report.h"
#include "fabric/round.h"
#include "text/command.h"

namespace gdr::fabric {

// What is to be retested, and with whom.
struct Suspicion {
  std::vector<HostIndex> hosts;
  std::vector<Edge> pairs;
  std::vector<HostIndex> good;  // there to the end, and nothing is held against them
};
Suspicion suspect(const Report& report);

// Fills in `fleet` and `findings` from hosts, measurements and incidents. It may be called again
// when more has been measured; what add_examination() added is lost then.
void judge(Report* report);

// Adds what a suspect's host says of itself to the findings about it. Counters of errors that moved
// on a slow rail make its finding one about the cable.
void add_examination(Report* report, HostIndex host, const Examined& examined);

// The command that drains all hosts with confirmed faults of their own, where the run is under
// Slurm; else empty.
text::Command drain_command(const Report& report);

}  // namespace gdr::fabric
