// RDMA writes, or reads, that follow each other in a posted list: moved by one system call, because
// the call alone takes longer than several short pieces.
//
//   if (std::optional<Advance> went = move_coalesced(requester)) return *went;
//
// The kernel takes the pieces in the order of the lists ("Buffers are processed in array order",
// process_vm_writev(2)), so requests are placed in the order of posting. It says how many bytes it
// has moved before it found something missing. Requests that are whole by then complete; the next
// one goes through its checks and its move again, by itself, and so finds its error. Hot.
#pragma once

#include <optional>

#include "local/requests.h"

namespace gdr::local {

// The front request is about to be moved from `from` to `to`. Nothing: it goes by itself.
std::optional<Advance> move_coalesced(Requester& requester);

}  // namespace gdr::local
