#include "nccl/lines.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace gdr::nccl {
namespace {

constexpr char kEscape = '\x1b';

constexpr bool is_control(char byte) {
  const auto value = static_cast<unsigned char>(byte);
  return value < 0x20 || value == 0x7f;
}

// By byte: itself, or the space in place of a control byte.
constexpr std::array<char, 256> kCleaned = [] {
  std::array<char, 256> cleaned{};
  for (std::size_t byte = 0; byte < cleaned.size(); ++byte) {
    const auto c = static_cast<char>(byte);
    cleaned[byte] = is_control(c) ? ' ' : c;
  }
  return cleaned;
}();

// The end of the control sequence that begins at `at` with an escape: ECMA-48 5.4, "ESC [ ...
// letter". Any other escape counts as one byte.
std::size_t end_of_escape(std::string_view text, std::size_t at) {
  if (at + 1 >= text.size() || text[at + 1] != '[') return at + 1;
  std::size_t end = at + 2;
  while (end < text.size() && text[end] >= 0x20 && text[end] < 0x40) ++end;
  return end < text.size() && text[end] >= 0x40 && text[end] < 0x7f ? end + 1 : end;
}

// Eight bytes at a time, since most lines have none (Bit Twiddling Hacks: "Determine if a word has
// a byte less than n" and "a zero byte").
bool has_control(std::string_view text) {
  constexpr std::uint64_t kOnes = 0x0101010101010101, kHigh = kOnes * 0x80;
  std::uint64_t found = 0;
  for (; text.size() >= sizeof found; text.remove_prefix(sizeof found)) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, text.data(), sizeof bytes);
    const std::uint64_t deletes = bytes ^ kOnes * 0x7f;
    found |= ((bytes - kOnes * 0x20) & ~bytes) | ((deletes - kOnes) & ~deletes);
  }
  return (found & kHigh) != 0 || std::any_of(text.begin(), text.end(), is_control);
}

// In place. A tab or a stray byte becomes a space, so that words stay apart.
void clean(std::string& line) {
  std::size_t to = 0;
  for (std::size_t at = 0; at < line.size();) {
    if (line[at] == kEscape) {
      at = end_of_escape(line, at);
      continue;
    }
    line[to++] = kCleaned[static_cast<unsigned char>(line[at++])];
  }
  line.resize(to);
}

}  // namespace

void Lines::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t stop = bytes.find('\n');
    take(bytes.substr(0, stop), stop != std::string_view::npos);
    if (stop == std::string_view::npos) return;
    if (!begun_) ++number_;
    begun_ = false;
    bytes.remove_prefix(stop + 1);
  }
}

void Lines::finish() {
  end(false);
  begun_ = false;
}

// A carriage return ends a piece too: progress bars are followed by messages on the same line.
void Lines::take(std::string_view line, bool ends) {
  for (std::size_t stop = line.find('\r'); stop != std::string_view::npos; stop = line.find('\r')) {
    take_piece(line.substr(0, stop), true);
    line.remove_prefix(stop + 1);
  }
  take_piece(line, ends);
}

void Lines::take_piece(std::string_view piece, bool ends) {
  if (!piece.empty() && !begun_) {
    begun_ = true;
    ++number_;
  }
  // Most pieces arrive whole and are told from where they are.
  const bool whole = ends && line_.empty() && piece.size() <= kLongestLine;
  if (whole && !has_control(piece)) {
    if (!piece.empty()) sink_({number_, piece, true});
    return;
  }
  const std::size_t room = kLongestLine - std::min(kLongestLine, line_.size());
  too_long_ = too_long_ || piece.size() > room;
  line_.append(piece.substr(0, room));
  if (ends) end(true);
}

void Lines::end(bool whole) {
  if (!line_.empty()) {
    if (has_control(line_)) clean(line_);
    sink_({number_, line_, whole && !too_long_});
  }
  line_.clear();
  too_long_ = false;
}

}  // namespace gdr::nccl
