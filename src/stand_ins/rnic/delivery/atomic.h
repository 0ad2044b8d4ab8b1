// Compare-and-swap and fetch-and-add: read, compute, write, under the lock that every path's
// atomics on the process share (IBV_ATOMIC_HCA: atomic among atomics, not with the CPU).
#pragma once

#include <cstdint>
#include <optional>

namespace gdr::rnic {

constexpr std::uint64_t kOperandBytes = 8;

struct Atomic {
  bool swaps;  // only where `compare` stands; else it adds
  std::uint64_t swap_or_add;
  std::uint64_t compare;

  // What is to stand where `before` stood; nothing: that stays.
  std::optional<std::uint64_t> after(std::uint64_t before) const {
    if (!swaps) return before + swap_or_add;
    return before == compare ? std::optional(swap_or_add) : std::nullopt;
  }
};

}  // namespace gdr::rnic
