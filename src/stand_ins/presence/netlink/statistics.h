// A port's statistics: what /sys/class/infiniband/NAME/ports/1/hw_counters holds, as the kernel's
// driver of a device with such counters tells it.
#pragma once

#include <cstdint>

#include "presence/netlink/message.h"
#include "presence/netlink/tree_reader.h"

namespace gdr::presence::netlink {

// False: nothing is counted (GDR_PORT_COUNTERS), or not for this port.
bool add_statistics(Message& message, const TreeReader& tree, std::uint32_t device,
                    std::uint32_t port);

}  // namespace gdr::presence::netlink
