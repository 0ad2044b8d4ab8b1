// The report in Prometheus' text exposition format, for node_exporter's textfile collector or a
// push gateway: figures of each host and rail, findings by culprit, and when the run was.
//
//   fputs(to_prometheus(report).c_str(), file);
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "fabric/report.h"

namespace gdr::fabric {

std::string to_prometheus(const Report& report);

// Seconds since 1970 of "2026-11-26 10:12 UTC" or "2026-11-26T10:12:31Z".
std::optional<double> seconds_of_date(std::string_view date);

}  // namespace gdr::fabric
