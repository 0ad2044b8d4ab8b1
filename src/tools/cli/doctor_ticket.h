// gdr doctor --report FILE: the host and its findings as a page or as Markdown, for a ticket, as
// JSON, or as metrics.
#pragma once

#include "base/result.h"
#include "cli/machine_options.h"
#include "cli/report_files.h"
#include "doctor/host.h"
#include "doctor/report.h"

namespace gdr::cli {

Result<void> write_reports(const ReportFiles& files, const MachineOptions& machine,
                           const doctor::Host& host, const doctor::Report& report);

}  // namespace gdr::cli
