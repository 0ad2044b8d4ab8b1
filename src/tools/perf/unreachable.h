// Why the two sides' NICs do not reach each other, and what to do, in one line.
//
//   return unreachable(server_port, "mlx5_0", "::ffff:192.168.1.7");
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "perf/report.h"

namespace gdr::perf {

// "::ffff:192.168.1.7"
std::string text_of_gid(std::span<const std::uint8_t, 16> gid);

// EHOSTUNREACH. `far`: the server's port; `nic` and `gid`: the one here, to which nothing came.
Error unreachable(const Port& far, const std::string& nic, const std::string& gid);

}  // namespace gdr::perf
