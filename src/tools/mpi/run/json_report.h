// The report as one JSON document, and its rows as CSV (RFC 4180): docs/mpi-run.md has the fields.
//
//   fputs(to_json(report).c_str(), stdout);
#pragma once

#include <string>

#include "mpi/run/report.h"

namespace gdr::mpi_run {

std::string to_json(const Report& report);
std::string to_csv(const Report& report);

}  // namespace gdr::mpi_run
