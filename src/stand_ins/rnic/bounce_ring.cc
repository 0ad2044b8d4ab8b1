#include "rnic/bounce_ring.h"

#include <cstring>

namespace gdr::rnic {
namespace {

constexpr std::uint32_t kMask = kBounceRingBytes - 1;
constexpr std::uint32_t kStep = 16;  // what copy_while() copies at a time
static_assert((kBounceRingBytes & kMask) == 0);

// What a message takes: copies go by whole steps from wherever a piece of it begins.
constexpr std::uint32_t room_of(std::uint32_t bytes) {
  return (bytes + 2 * (kStep - 1)) & ~(kStep - 1);
}

// In one stretch: what does not fit before the end begins at the beginning.
std::uint32_t place_behind(std::uint32_t tail, std::uint32_t room) {
  const std::uint32_t left = kBounceRingBytes - (tail & kMask);
  return room <= left ? tail : tail + left;
}

bool fits(std::uint32_t head, std::uint32_t tail, std::uint32_t room) {
  return place_behind(tail, room) + room - head <= kBounceRingBytes;
}

std::uint32_t tail_of(const SharedCompletionQueue& shared) {
  return shared.bounce_tail.load(std::memory_order_relaxed) & ~(kStep - 1);
}

// `to` has room for whole steps. No byte beyond a piece is read: it may be the last one of its
// page.
bool copy_piece(const While& held, std::byte* to, const iovec& piece) {
  const auto* from = static_cast<const std::byte*>(piece.iov_base);
  const std::size_t steps = piece.iov_len & ~std::size_t{kStep - 1};
  if (steps != 0 && !copy_while(held, to, from, steps)) return false;
  const std::size_t rest = piece.iov_len - steps;
  if (rest == 0) return true;
  std::byte last[kStep]{};
  std::memcpy(last, from + steps, rest);
  return copy_while(held, to + steps, last, kStep);
}

}  // namespace

bool may_bounce(const SharedCompletionQueue& shared, std::uint32_t bytes) {
  if (read_once(shared.bounce) == 0 || bytes > kBouncedBytes) return false;
  const std::uint32_t tail = tail_of(shared), room = room_of(bytes);
  // The owner's line is fetched only when the ring seems to be full.
  return fits(shared.known_bounce_head.load(std::memory_order_relaxed), tail, room) ||
         fits(shared.bounce_head.load(std::memory_order_acquire), tail, room);
}

Bounced bounce(Segment& segment, SharedCompletionQueue& shared, std::span<const iovec> pieces,
               std::uint32_t bytes, const While& held) {
  auto* ring = static_cast<std::byte*>(segment.arena(read_once(shared.bounce), kBounceRingBytes));
  const std::uint32_t tail = tail_of(shared), room = room_of(bytes);
  if (ring == nullptr || bytes > kBouncedBytes) return {Bounce::kNoRoom};
  if (!fits(shared.known_bounce_head.load(std::memory_order_relaxed), tail, room)) {
    const std::uint32_t head = shared.bounce_head.load(std::memory_order_acquire);
    if (!fits(head, tail, room)) return {Bounce::kNoRoom};
    if (!store_while(held, shared.known_bounce_head, head)) return {Bounce::kLost};
  }
  const std::uint32_t at = place_behind(tail, room);
  std::byte* to = ring + (at & kMask);
  std::uint32_t done = 0;
  for (const iovec& piece : pieces) {
    if (piece.iov_len > bytes - done) return {Bounce::kNoRoom};
    if (!copy_piece(held, to + done, piece)) return {Bounce::kLost};
    done += static_cast<std::uint32_t>(piece.iov_len);
  }
  if (!store_while(held, shared.bounce_tail, at + room)) return {Bounce::kLost};
  return {Bounce::kDone, at};
}

std::span<const std::byte> bounced(const std::byte* ring, std::uint32_t at, std::uint32_t bytes) {
  const std::uint32_t begin = at & kMask;
  if (ring == nullptr || bytes > kBouncedBytes || bytes > kBounceRingBytes - begin) return {};
  return {ring + begin, bytes};
}

std::uint32_t behind_bounced(std::uint32_t at, std::uint32_t bytes) { return at + room_of(bytes); }

}  // namespace gdr::rnic
