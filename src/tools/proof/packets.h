// How many packets a port has received, as the kernel counts them: whether anything came at all.
//
//   CountPackets::Reply before = count_packets("/", "mlx5_0", 1);
#pragma once

#include <string>

#include "proof/messages.h"

namespace gdr::proof {

// `root`: of the machine's files.
CountPackets::Reply count_packets(const std::string& root, const std::string& nic,
                                  std::uint8_t port);

}  // namespace gdr::proof
