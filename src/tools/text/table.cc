#include "text/table.h"

#include <algorithm>

#include "text/format.h"
#include "text/wrap.h"

namespace gdr::text {

std::string table(const std::vector<std::vector<std::string>>& rows, std::size_t indent) {
  std::vector<std::size_t> widths;
  std::vector<bool> used;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    used.resize(widths.size());
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], screen_width(row[i]));
      if (&row != &rows.front() && !row[i].empty()) used[i] = true;
    }
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line(indent, ' ');
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (used[i]) line += pad(row[i], widths[i]) + "  ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace gdr::text
