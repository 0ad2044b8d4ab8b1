#include "text/format.h"

#include <stdio.h>

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

std::string size_text(std::uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB"};
  auto size = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; unit + 1 < std::size(kUnits) && size >= 1024; ++unit) size /= 1024;
  char number[32];
  snprintf(number, sizeof number, "%.1f", size);
  const std::string text = number;
  return (text.ends_with(".0") ? text.substr(0, text.size() - 2) : text) + " " + kUnits[unit];
}

}  // namespace gdr::text
