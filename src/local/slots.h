// Slots: how the processes of one host find each other. A process binds the abstract AF_UNIX name
// of a free slot; the slot's number is in each of its queue pair numbers, so whoever is told a
// queue pair number knows whom to ask. Names vanish with their process, and the kernel keeps them
// apart by network namespace.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "base/unique_fd.h"

namespace gdr::local {

struct Slot {
  std::uint32_t number = 0;  // 1 .. kSlots - 1
  UniqueFd listener;         // SOCK_SEQPACKET, listening, non-blocking
};

// ENOSPC when every slot of this user is taken.
Result<Slot> claim_slot();

// ECONNREFUSED when nobody holds the slot; EACCES when another user does.
Result<UniqueFd> connect_slot(std::uint32_t number);

// The process at the other end, if it is of this user (EACCES if not). 0 when its pid namespace is
// not visible from here.
Result<int> same_user_peer(int connection);

}  // namespace gdr::local
