// The text of `lspci -vvv`, with or without -nn, -n and -D: each function with its bridges' buses,
// links, settings, access control and driver.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "host/pci/function.h"
#include "host/pci/link.h"

namespace gdr::host {

struct LspciVerbose {
  std::map<std::string, PciFunction> functions;
  std::map<std::string, PortSpeed> speeds;
  std::map<std::string, std::string> bridges;  // by the bus below: "0000:01" -> "0000:00:01.1"
  // A whole machine has a host bridge; a text about some devices says nothing of what is above
  // them.
  bool has_bridges = false;
  // Some capability hidden, or the text is of lspci -v alone: configuration space is not all there.
  bool configuration_hidden = false;
};

Result<LspciVerbose> read_lspci_verbose(std::string_view text);

}  // namespace gdr::host
