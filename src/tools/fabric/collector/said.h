// What a member says, made fit to be shown and kept: printable, and not longer than it is worth.
//
//   said("a\x1b[2Jb")                 // "a [2Jb"
//   said(rail.nic, kMostName)         // "mlx5_0"
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gdr::fabric {

constexpr std::size_t kMostSaid = 500;  // bytes of a sentence
constexpr std::size_t kMostName = 100;  // of a name

// "…" shows that something is left out.
std::string said(std::string_view text, std::size_t most = kMostSaid);

}  // namespace gdr::fabric
