// The page's tables: all rows by group, and direct beside staged.
#pragma once

#include <string>

#include "perf/report.h"

namespace gdr::perf {

std::string html_tables(const std::vector<Row>& rows);
std::string html_gains(const std::vector<Row>& rows);

}  // namespace gdr::perf
