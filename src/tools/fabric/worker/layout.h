// Where things lie in a rail's memory, which is registered once:
//
//   guard | incoming | guard | outgoing
//
// The peer is told where incoming begins. What is proved is written at an odd offset, which it
// knows, since errors of address and alignment show there.
#pragma once

#include <algorithm>
#include <cstdint>

namespace gdr::fabric::worker {

// As wide as two GPU pages: data that lands a page off is seen in them.
constexpr std::uint64_t kGuard = 128 * 1024;
constexpr std::uint64_t kProofOffset = 4096 + 13;  // in incoming
constexpr std::uint64_t kSourceOffset = 7;         // in outgoing
// In the memory, of the guard right before what is proved: incoming begins behind a guard.
constexpr std::uint64_t kGuardOffset = kProofOffset;

constexpr std::uint64_t area_bytes(std::uint64_t proof_bytes, std::uint64_t message_bytes) {
  constexpr std::uint64_t kPage = 4096;
  const std::uint64_t needed = std::max(proof_bytes + kProofOffset, message_bytes);
  return (needed + kPage - 1) / kPage * kPage;
}

}  // namespace gdr::fabric::worker
