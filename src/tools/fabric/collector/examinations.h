// Which hosts are asked for gdr doctor's findings at the end of a run.
//
//   for (const HostIndex host : hosts_to_examine(report, 32)) ask(host);
#pragma once

#include <cstddef>
#include <vector>

#include "fabric/messages.h"
#include "fabric/report.h"

namespace gdr::fabric {

// Of findings about one host, or about a pair; hosts that are still there, the worst first.
std::vector<HostIndex> hosts_to_examine(const Report& report, std::size_t most);

// What a host says of itself, no longer than it is worth: counters of rails that it has.
void tidy(Examined* examined, std::size_t rails);

}  // namespace gdr::fabric
