// The report as CSV (RFC 4180): a line of names, then one line a row, each with both sides, so that
// files of several runs can be put together. Units are part of the names; what a row has not is
// empty.
#pragma once

#include <string>

#include "perf/report.h"

namespace gdr::perf {

std::string to_csv(const Report& report);

}  // namespace gdr::perf
