// A listing as one JSON document.
#pragma once

#include <string>

#include "text/envelope.h"
#include "topo/listing.h"

namespace gdr::topo {

std::string to_json(const Listing& listing, const text::Provenance& provenance = {});

}  // namespace gdr::topo
