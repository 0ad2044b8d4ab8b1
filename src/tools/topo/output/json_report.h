// Everything that gdr topo found as one JSON document; docs/topo.md tells of its fields.
#pragma once

#include <string>

#include "text/envelope.h"
#include "topo/report.h"

namespace gdr::topo {

std::string to_json(const Report& report, const text::Provenance& provenance = {});

}  // namespace gdr::topo
