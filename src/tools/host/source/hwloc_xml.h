// hwloc's XML, as `lstopo machine.xml` writes it: of version 2 and later, and of version 1 as far
// as the elements are the same.
#pragma once

#include <string_view>

#include "base/result.h"
#include "host/inventory.h"

namespace gdr::host {

Result<Inventory> read_hwloc_xml(std::string_view document);

}  // namespace gdr::host
