// Token: what the processes of one run know and nobody else: a random text that the launcher's
// rendezvous carries, or one made of a text of the user's. A member and the collector prove to
// each other that they know it, the member first, and seal all that they say afterwards
// (process/agreement.h).
//
//   const process::Share own = share_of(token);
//   tell(own.point());
//   std::optional<process::Agreement> agreement =
//       agree_on(own, theirs, Side::kServer, rank, accepted_at);
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "process/agreement.h"

namespace gdr::fabric {

using process::Point;
using process::Side;
using Proof = process::Digest;

// The address and port at which a connection was accepted, as either side knows them. Whoever sits
// at another place, and passes on what both say, finds that they do not agree.
using Endpoint = std::array<std::uint8_t, 18>;
// `self`: the server has accepted it. Sockets without addresses all have the same one.
Endpoint endpoint_of(int socket, Side self);

// For one connection of one member. An empty token is known to everybody.
process::Share share_of(const std::string& token);
// Nothing: what the other side has told is no point.
std::optional<process::Agreement> agree_on(const process::Share& own, const Point& theirs,
                                           Side self, std::uint32_t rank,
                                           const Endpoint& accepted_at);

}  // namespace gdr::fabric
