// Dialling a server of gdrkit by TCP.
//
//   Result<UniqueFd> connection = dial("node7", 18600, "gdr perf --server");
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace gdr::perf {

// Within five seconds. `server`: the command that starts one, for the error.
Result<UniqueFd> dial(const std::string& host, std::uint16_t port, const std::string& server);

// The address or name is tried once. EHOSTUNREACH: it is not known.
Result<UniqueFd> connect_within(const std::string& host, std::uint16_t port, Nanoseconds deadline);

}  // namespace gdr::perf
