// The server of `gdr prove`: B of the proofs of clients on other hosts, one at a time. Each proof
// has a worker of its own, and so has each client that measures: a library that crashes takes only
// these along.
//
//   Result<void> ended = serve(options, say, interrupted);
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "proof/hosts/messages.h"
#include "proof/options.h"

namespace gdr::proof {

struct ServerOptions {
  Options proof;               // devices, stand-ins and where things are
  std::string listen_address;  // empty: this host alone; "any": all
  std::uint16_t port = kServerPort;
  std::optional<std::string> secret_file;
  Nanoseconds session_limit = 3600 * kSecond;  // a client's whole time
};

// Serves client after client until interrupted. `say`: a line for people. EINVAL: wrong use.
Result<void> serve(const ServerOptions& options, const std::function<void(const std::string&)>& say,
                   const std::atomic<bool>& interrupted);

}  // namespace gdr::proof
