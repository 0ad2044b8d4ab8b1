// gdr doctor --report FILE: the host and its findings as a page or as Markdown, for a ticket.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/machine_options.h"
#include "doctor/host.h"
#include "doctor/report.h"

namespace gdr::cli {

// The file's name says which form it has (this_host.h).
Result<void> write_report(const std::string& file, const MachineOptions& machine,
                          const doctor::Host& host, const doctor::Report& report);

}  // namespace gdr::cli
