// A listing for a person: a line for each GPU and one for each port.
#pragma once

#include <string>

#include "tool/style.h"
#include "topo/listing.h"

namespace gdr::topo {

std::string to_text(const Listing& listing, const tool::Style& style);

}  // namespace gdr::topo
