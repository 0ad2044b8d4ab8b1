#include "text/json_text.h"

#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/printable.h"

namespace gdr::text {
namespace {

// How many bytes the character at the start of `text`, which is UTF-8, takes.
std::size_t character_bytes(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  return lead < 0x80 ? 1 : static_cast<std::size_t>(std::countl_one(lead));
}

// As JSON writes it: above U+FFFF two surrogates (RFC 8259, section 7).
std::string escaped(std::string_view character) {
  std::uint32_t code = static_cast<unsigned char>(character[0]);
  if (character.size() > 1) code &= 0x7fu >> character.size();
  for (const char c : character.substr(1)) {
    code = code << 6 | (static_cast<unsigned char>(c) & 0x3f);
  }
  if (code < 0x10000) return fmt::format("\\u{:04x}", code);
  code -= 0x10000;
  return fmt::format("\\u{:04x}\\u{:04x}", 0xd800 + (code >> 10), 0xdc00 + (code & 0x3ff));
}

// In a document all that is neither a letter of ASCII nor a line feed stands inside a text, where
// control characters below U+0020 are escaped already.
std::string with_escapes(std::string_view document) {
  std::string text;
  text.reserve(document.size());
  while (!document.empty()) {
    const std::string_view character = document.substr(0, character_bytes(document));
    document.remove_prefix(character.size());
    const bool may_be_unseen = character.size() > 1 || character[0] == '\x7f';
    if (may_be_unseen && printable(character) != character) {
      text += escaped(character);
    } else {
      text += character;
    }
  }
  return text;
}

}  // namespace

std::string json_text(const nlohmann::ordered_json& document, int indent) {
  using Document = nlohmann::ordered_json;
  return with_escapes(document.dump(indent, ' ', false, Document::error_handler_t::replace));
}

}  // namespace gdr::text
