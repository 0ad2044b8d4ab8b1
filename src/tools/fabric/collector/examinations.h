// Which hosts are asked for gdr doctor's findings at the end of a run, and what becomes of the
// answers: they stand beside what was found about the host.
//
//   for (const HostIndex host : hosts_to_examine(report, 32)) ask(host);
//   add_examination(report, host, examined);
#pragma once

#include <cstddef>
#include <vector>

#include "fabric/messages.h"
#include "fabric/report.h"

namespace gdr::fabric {

// Of findings about one host, or about a pair; hosts that are still there, the worst first.
std::vector<HostIndex> hosts_to_examine(const Report& report, std::size_t most);

void add_examination(Report& report, HostIndex host, const Examined& examined);

}  // namespace gdr::fabric
