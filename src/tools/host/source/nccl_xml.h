// The topology files of NCCL: what NCCL_TOPO_DUMP_FILE writes, and what cloud providers ship for
// NCCL_TOPO_FILE, where a switch is one bridge and its ports are left out.
#pragma once

#include <string_view>

#include "base/result.h"
#include "host/inventory.h"

namespace gdr::host {

Result<Inventory> read_nccl_xml(std::string_view document);

}  // namespace gdr::host
