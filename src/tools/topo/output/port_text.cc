#include "topo/output/port_text.h"

#include "text/format.h"

namespace gdr::topo {

std::string state_text(const host::Port& port) {
  const auto space = port.state.find(' ');
  return space == std::string::npos ? port.state : port.state.substr(space + 1);
}

// The kernel's words go on with lanes and speed: "400 Gb/sec (4X NDR)".
std::string rate_text(const host::Port& port) {
  return text::join({port.rate.substr(0, port.rate.find(" (")), port.link_layer});
}

}  // namespace gdr::topo
