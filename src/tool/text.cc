#include "tool/text.h"

#include <algorithm>

#include "tool/wrap.h"

namespace gdr::tool {
namespace {

// How many bytes the character at the start of `text` takes; 0 where it is no UTF-8.
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  // 0xc0, 0xc1 and the low second bytes below write a character longer than it is; above U+10FFFF
  // there are none, and surrogates are no characters.
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return 0;
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  if ((lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xed && byte(1) > 0x9f)) return 0;
  if ((lead == 0xf0 && byte(1) < 0x90) || (lead == 0xf4 && byte(1) > 0x8f)) return 0;
  return bytes;
}

// C0 and C1 controls, DEL: some terminals obey the C1 ones written as UTF-8 too.
bool is_control(std::string_view character) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
  if (character.size() == 1) return byte(0) < 0x20 || byte(0) == 0x7f;
  return character.size() == 2 && byte(0) == 0xc2 && byte(1) < 0xa0;
}

}  // namespace

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

std::string printable(std::string_view text) {
  std::string clean;
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(bytes, 1));
    clean += bytes == 0 ? "?" : is_control(character) ? " " : character;
    text.remove_prefix(character.size());
  }
  return clean;
}

}  // namespace gdr::tool
