#include "text/format.h"

#include <algorithm>

#include "text/wrap.h"

namespace gdr::text {
std::string pad(std::string text, std::size_t columns) {
  const std::size_t now_wide = screen_width(text);
  if (now_wide < columns) text.append(columns - now_wide, ' ');
  return text;
}

std::string pad_left(const std::string& text, std::size_t columns) {
  return std::string(columns - std::min(columns, screen_width(text)), ' ') + text;
}

std::string join(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) {
    if (part.empty()) continue;
    if (!text.empty()) text += "  ";
    text += part;
  }
  return text;
}

std::string plural(std::uint64_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace gdr::text
