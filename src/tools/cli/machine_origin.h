// Which machine it is that topo and list have read, and what can be asked of it besides its files.
#pragma once

#include "cli/machine_options.h"
#include "topo/report.h"

namespace gdr::cli {

topo::Origin origin_of(const MachineOptions& options, const host::Inventory& inventory);

// Models and NVLinks from the GPU driver, names of cards from their product data.
void look_closer(const MachineOptions& options, host::Inventory& inventory);

}  // namespace gdr::cli
