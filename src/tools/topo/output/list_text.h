// A listing for a person: a line for each GPU and one for each port.
#pragma once

#include <string>

#include "text/style.h"
#include "topo/listing.h"

namespace gdr::topo {

std::string to_text(const Listing& listing, const text::Style& style);

}  // namespace gdr::topo
