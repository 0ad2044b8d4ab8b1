// A machine by the text of lspci: of lspci -vvv, of lspci -tv, or one of each.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "host/inventory.h"

namespace gdr::host {

struct NamedText {
  std::string name;  // of its file, for errors
  std::string text;
};

Result<Inventory> read_lspci(const std::vector<NamedText>& texts);

}  // namespace gdr::host
