// The report as one JSON document, and its rows as CSV (RFC 4180): docs/mpi-run.md has the fields.
//
//   fputs(to_json(report, provenance).c_str(), stdout);
#pragma once

#include <string>

#include "mpi/run/report.h"
#include "text/envelope.h"

namespace gdr::mpi_run {

std::string to_json(const Report& report, const text::Provenance& provenance);
std::string to_csv(const Report& report);

}  // namespace gdr::mpi_run
