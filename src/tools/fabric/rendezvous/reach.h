// Reaching the collector that an invitation names, by whichever of its addresses leads there.
//
//   Result<UniqueFd> connection = reach(invitation, now() + 30 * kSecond);
#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "fabric/rendezvous/invitation.h"

namespace gdr::fabric {

// Tries the addresses again and again until one answers: the collector may not listen yet. An
// address that this host has itself comes last, since bridges of virtual machines and containers
// have the same address on every host. ETIMEDOUT: none did until the deadline, and why not.
Result<UniqueFd> reach(const Invitation& invitation, Nanoseconds deadline);

}  // namespace gdr::fabric
