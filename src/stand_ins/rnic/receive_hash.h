// Receive side scaling: which of several receive queues a frame goes to, by a hash of its
// addresses.
//
//   Result<std::uint64_t> spread = make_spread(segment, {.fields = mask, .size = 8, ...});
//   rule.spread = *spread;                                        // a sender then asks:
//   std::optional<std::uint32_t> index = spread_to(segment, rule.spread, frame);
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <optional>
#include <span>

#include "base/result.h"
#include "rnic/segment.h"

namespace gdr::rnic {

constexpr std::uint64_t kHashFields = IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4 |
                                      IBV_RX_HASH_SRC_IPV6 | IBV_RX_HASH_DST_IPV6 |
                                      IBV_RX_HASH_SRC_PORT_TCP | IBV_RX_HASH_DST_PORT_TCP |
                                      IBV_RX_HASH_SRC_PORT_UDP | IBV_RX_HASH_DST_PORT_UDP;

// Microsoft's "RSS hashing types" and its verification suite define the function and the order of
// its input: source address, destination address, source port, destination port.
std::uint32_t toeplitz(std::span<const std::uint8_t, kHashKeyBytes> key,
                       std::span<const std::uint8_t> input);

// Hashes those of `fields` that the frame has; 0 if it has none.
std::uint32_t receive_hash(std::uint32_t fields, std::span<const std::uint8_t, kHashKeyBytes> key,
                           std::span<const std::uint8_t> frame);

// Puts it into the arena of this process's segment; Segment::free takes it out.
Result<std::uint64_t> make_spread(Segment& segment, const SharedSpread& spread);

// The queue pair's index; nothing where there is no sound spread.
std::optional<std::uint32_t> spread_to(Segment& segment, std::uint64_t spread,
                                       std::span<const std::uint8_t> frame);

}  // namespace gdr::rnic
