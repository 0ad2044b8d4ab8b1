// The bounce ring of a completion queue: where the bytes of messages of some KiB wait for whoever
// polls their completions. It saves the sender the system call by which it would reach the memory
// of another process, which costs more than copying so few bytes twice.
//
//   if (may_bounce(shared, length)) ...  // a hint, without a lock
//   const Bounced in = bounce(segment, shared, pieces, length, held);  // under `producer`
//   if (in.went == Bounce::kDone) completion.bounced_at = in.at;
//   std::span<const std::byte> bytes = bounced(ring, completion.bounced_at, length);  // its owner
//
// Bytes lie in the order of the completions, so the owner gives room back by saying how far it has
// polled. What finds no room goes into its receive directly. Hot.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/restartable.h"
#include "rnic/segment.h"

namespace gdr::rnic {

// Longer messages are quicker by the kernel's copy.
constexpr std::uint32_t kBouncedBytes = 16 << 10;
constexpr std::uint32_t kBounceRingBytes = 256 << 10;
// Queues beyond have none, so that rings leave most of the arena to others.
constexpr std::uint32_t kBounceRings = 1024;

// Whether that many bytes seem to have room.
bool may_bounce(const SharedCompletionQueue& shared, std::uint32_t bytes);

enum class Bounce { kDone, kNoRoom, kLost };  // kLost: this process was cut off
struct Bounced {
  Bounce went;
  std::uint32_t at = 0;
};
// Under the producer lock. Room that was taken for a completion that then was not pushed comes back
// with that of the next one.
Bounced bounce(Segment& segment, SharedCompletionQueue& shared, std::span<const iovec> pieces,
               std::uint32_t bytes, const While& held);

// Where they lie in `ring`, the owner's own pointer; empty if another process has written nonsense.
std::span<const std::byte> bounced(const std::byte* ring, std::uint32_t at, std::uint32_t bytes);
// How far the owner has polled after them.
std::uint32_t behind_bounced(std::uint32_t at, std::uint32_t bytes);

}  // namespace gdr::rnic
