// Relay: carries what either of two sockets says to the other.
//
//   relay(client, server, [&] { return !interrupted.load(); });
#pragma once

#include <functional>

#include "base/unique_fd.h"

namespace gdr::proof {

// Until one of them ends, or `goes_on` (asked several times a second) says no.
void relay(const UniqueFd& one, const UniqueFd& other, const std::function<bool()>& goes_on);

}  // namespace gdr::proof
