// What the page's script draws: hosts in their order, and every cell that was measured, packed into
// 16-bit numbers. page/cells.js unpacks it.
//
//   const PageData data = page_data(report);
//   page += data.json;
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fabric/report.h"

namespace gdr::fabric {

struct PageData {
  std::string json;
  // Directions of pairs on a rail. Fewer are shown where all would make the page too large: all
  // that stand out, and of the others an even share.
  std::size_t cells = 0, shown = 0;
};

// `most_bytes` of packed cells: base64 makes a third more of them.
PageData page_data(const Report& report, std::size_t most_bytes = std::size_t{18} << 20);

// By leaf, then by name, in which numbers count as such: n2 is before n10.
std::vector<HostIndex> hosts_in_order(const Report& report);
bool is_before(std::string_view a, std::string_view b);

std::string base64(const std::vector<std::uint16_t>& numbers);

}  // namespace gdr::fabric
