// Columns that are as wide as their widest cell, two spaces apart. A column whose cells are all
// empty is left out with its heading.
//
//   table({{"NIC", "MAC"}, {"mlx5_0", "b8:3f:d2:00:00:01"}}, 2)  // behind two spaces
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace gdr::text {

// The first row is the headings. Each line ends with a line feed and has no spaces before it.
std::string table(const std::vector<std::vector<std::string>>& rows, std::size_t indent = 0);

}  // namespace gdr::text
