// A listing as one JSON document.
#pragma once

#include <string>

#include "topo/listing.h"

namespace gdr::topo {

// `version`: of the program.
std::string to_json(const Listing& listing, const std::string& version);

}  // namespace gdr::topo
