// One side of a run in words and numbers, for the report.
//
//   Side side = describe_side(inventory, chosen, version);
#pragma once

#include <string>

#include "perf/limits/facts.h"
#include "perf/report.h"

namespace gdr::perf {

Side describe_side(const participants::InventoryReport& inventory, const Chosen& chosen,
                   const std::string& version, const std::string& root = "/");

}  // namespace gdr::perf
