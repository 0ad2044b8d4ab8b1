#include "base/printable.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace gdr {
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

std::uint32_t code_point(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return lead;
  std::uint32_t code = lead & (0x7fu >> character.size());
  for (const char c : character.substr(1))
    code = code << 6 | (static_cast<unsigned char>(c) & 0x3f);
  return code;
}

struct Range {
  std::uint32_t first, last;
};

// C0 and C1 controls, DEL, LINE SEPARATOR and PARAGRAPH SEPARATOR: some terminals obey the C1 ones
// written as UTF-8 too.
constexpr Range kBreaks[] = {{0x00, 0x1f}, {0x7f, 0x9f}, {0x2028, 0x2029}};

// In the order of their numbers. Unicode 15: general categories Cf and Co, properties
// Default_Ignorable_Code_Point and Noncharacter_Code_Point.
constexpr Range kUnseen[] = {
    {0x00ad, 0x00ad},                         // soft hyphen
    {0x034f, 0x034f},                         // combining grapheme joiner
    {0x0600, 0x0605},                         // Arabic number signs
    {0x061c, 0x061c},                         // Arabic letter mark
    {0x06dd, 0x06dd},                         // Arabic end of ayah
    {0x070f, 0x070f},                         // Syriac abbreviation mark
    {0x0890, 0x0891},                         // Arabic pound and piastre marks
    {0x08e2, 0x08e2},                         // Arabic disputed end of ayah
    {0x115f, 0x1160},                         // Hangul fillers
    {0x17b4, 0x17b5},                         // Khmer inherent vowels
    {0x180b, 0x180f},                         // Mongolian selectors and vowel separator
    {0x200b, 0x200f},                         // zero width; left-to-right and right-to-left marks
    {0x202a, 0x202e},                         // embeddings and overrides of direction
    {0x2060, 0x206f},                         // word joiner, isolates of direction
    {0x2800, 0x2800},                         // Braille of no dots
    {0x3164, 0x3164},                         // Hangul filler
    {0xe000, 0xf8ff},                         // private use
    {0xfdd0, 0xfdef},                         // noncharacters
    {0xfe00, 0xfe0f},                         // variation selectors
    {0xfeff, 0xfeff},                         // byte order mark
    {0xffa0, 0xffa0},                         // Hangul filler
    {0xfff0, 0xfffb},                         // interlinear annotations
    {0xfffe, 0xffff},                         // noncharacters
    {0x110bd, 0x110bd},                       // Kaithi number signs
    {0x110cd, 0x110cd},  {0x13430, 0x1345f},  // Egyptian hieroglyph controls
    {0x1bca0, 0x1bca3},                       // shorthand controls
    {0x1d173, 0x1d17a},                       // musical controls
    {0xe0000, 0x10ffff},                      // tags, more selectors, private use
};

template <std::size_t kCount>
bool among(const Range (&ranges)[kCount], std::uint32_t code) {
  const auto above = std::ranges::upper_bound(ranges, code, {}, &Range::first);
  return above != std::begin(ranges) && code <= std::prev(above)->last;
}

// The last two of each plane are no characters.
bool shows_nothing(std::uint32_t code) { return among(kUnseen, code) || (code & 0xfffe) == 0xfffe; }

}  // namespace

std::string printable(std::string_view text) {
  std::string clean;
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(bytes, 1));
    text.remove_prefix(character.size());
    const std::uint32_t code = bytes == 0 ? 0 : code_point(character);
    if (bytes == 0 || shows_nothing(code)) {
      clean += '?';
    } else if (among(kBreaks, code)) {
      clean += ' ';
    } else {
      clean += character;
    }
  }
  return clean;
}

}  // namespace gdr
