// Slots: how the processes of one host find each other. A process binds the socket of a free slot
// (rendezvous.h); the slot's number is in each of its queue pair numbers, so whoever is told a
// queue pair number knows whom to ask. The kernel keeps network namespaces apart.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace gdr::peers {

struct Slot {
  std::uint32_t number = 0;  // 1 .. kSlots - 1
  UniqueFd listener;         // SOCK_SEQPACKET, listening, non-blocking
};

// So long a process that does not answer is waited for: in one call, or in many that are made
// together.
constexpr Nanoseconds kAnswerPatience = 300 * kMillisecond;

// Who has not answered for so long is stopped, and no longer counted on.
constexpr Nanoseconds kSilencePatience = 2 * kSecond;

// ENOSPC when every slot of this user is taken. Its file goes with the process.
Result<Slot> claim_slot();

// Non-blocking. ECONNREFUSED when nobody holds the slot; EAGAIN when whoever does takes no calls
// before `deadline`. Another account's process holds none.
Result<UniqueFd> connect_slot(std::uint32_t number, Nanoseconds deadline);

// Removes what dead processes have left at slots (sorted) where nobody answers, and what whole
// network namespaces have left.
void sweep_slots(const std::vector<std::uint32_t>& refused);

// The slots that somebody may hold.
std::vector<std::uint32_t> held_slots();

}  // namespace gdr::peers
