// Relay: carries what either of two processes says to the other, message by message, since one of
// the conversations may be sealed and the other not.
//
//   relay(client, server, [&] { return !interrupted.load(); });
#pragma once

#include <functional>

#include "process/conversation.h"

namespace gdr::proof {

// Until one of them ends, or `goes_on` (asked several times a second) says no.
void relay(process::Connection& one, process::Connection& other,
           const std::function<bool()>& goes_on);

}  // namespace gdr::proof
