// The report as one JSON document.
#pragma once

#include <string>

#include "proof/report.h"

namespace gdr::proof {

std::string to_json(const Report& report);

}  // namespace gdr::proof
