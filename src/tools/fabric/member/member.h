// Member: a process of a run, between the collector and the worker that holds its rails. The worker
// is a process of its own, so that a driver's library that crashes or hangs is something that the
// member can still report.
//
//   Result<void> ended = serve_collector(std::move(socket), {.rank = 3, .token = token, ...});
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace gdr::fabric {

struct MemberOptions {
  std::uint32_t rank = 0;
  std::string token;
  std::string version;                     // gdrkit's
  std::string program = "/proc/self/exe";  // started as the worker, and as gdr doctor
  std::string root = "/";
};

// Until it is told that the run is over, or the collector is gone. EPROTO, EACCES: the collector is
// another program, or does not let it in.
Result<void> serve_collector(UniqueFd socket, const MemberOptions& options);

}  // namespace gdr::fabric
