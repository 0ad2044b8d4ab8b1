// Addresses of RoCEv2 as verbs writes them: ibv_ah_attr and GIDs.
#pragma once

#include <infiniband/verbs.h>

#include "verbs/device.h"

namespace gdr::verbs {

// Whether the port and the source GID exist, there is a GRH and the fields are in their ranges.
bool names_a_path(const Device& device, const ibv_ah_attr& attributes);

ibv_ah* create_address_handle(ibv_pd* pd, const ibv_ah_attr& attributes);

}  // namespace gdr::verbs
