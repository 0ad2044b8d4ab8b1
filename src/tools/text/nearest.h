// Guesses which word somebody meant who mistyped it.
//
//   nearest("prov", {"prove", "perf"})             // {"prove"}
//   nearest("--soft", {"--soft-nic", "--pcap"})    // {"--soft-nic"}, which it begins
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gdr::text {

// Letters to insert, leave out, replace, or swap with their neighbour, to get from one to the
// other.
std::size_t edit_distance(std::string_view one, std::string_view other);

// Those that are equally near, in their order; none where nothing is near enough to be meant.
// Dashes in front do not count.
std::vector<std::string> nearest(std::string_view typed, const std::vector<std::string>& words);

}  // namespace gdr::text
