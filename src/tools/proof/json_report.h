// The report as one JSON document.
#pragma once

#include <string>

#include "proof/report.h"
#include "text/envelope.h"

namespace gdr::proof {

std::string to_json(const Report& report, const text::Provenance& provenance = {});

}  // namespace gdr::proof
