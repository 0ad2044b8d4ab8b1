// What a port says of itself, in a reader's words.
#pragma once

#include <string>

#include "host/inventory.h"

namespace gdr::topo {

// "ACTIVE" of "4: ACTIVE".
std::string state_text(const host::Port& port);

// "400 Gb/sec  InfiniBand"
std::string rate_text(const host::Port& port);

}  // namespace gdr::topo
