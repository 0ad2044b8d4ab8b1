#include "nccl/lines.h"

#include <algorithm>

namespace gdr::nccl {
namespace {

constexpr char kEscape = '\x1b';

bool is_control(char byte) {
  const auto value = static_cast<unsigned char>(byte);
  return value < 0x20 || value == 0x7f;
}

// The end of the control sequence that begins at `at` with an escape: ECMA-48 5.4, "ESC [ ...
// letter". Any other escape counts as one byte.
std::size_t end_of_escape(std::string_view text, std::size_t at) {
  if (at + 1 >= text.size() || text[at + 1] != '[') return at + 1;
  std::size_t end = at + 2;
  while (end < text.size() && text[end] >= 0x20 && text[end] < 0x40) ++end;
  return end < text.size() && text[end] >= 0x40 && text[end] < 0x7f ? end + 1 : end;
}

// In place. A tab or a stray byte becomes a space, so that words stay apart.
void clean(std::string& line) {
  if (std::none_of(line.begin(), line.end(), is_control)) return;
  std::size_t to = 0;
  for (std::size_t at = 0; at < line.size();) {
    if (line[at] == kEscape) {
      at = end_of_escape(line, at);
      continue;
    }
    line[to++] = is_control(line[at]) ? ' ' : line[at];
    ++at;
  }
  line.resize(to);
}

}  // namespace

void Lines::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    // A carriage return ends a piece too: progress bars are followed by messages on the same line.
    const std::size_t stop = bytes.find_first_of("\n\r");
    append(bytes.substr(0, stop));
    if (stop == std::string_view::npos) return;
    end(true);
    if (bytes[stop] == '\n') {
      if (!begun_) ++number_;
      begun_ = false;
    }
    bytes.remove_prefix(stop + 1);
  }
}

void Lines::finish() {
  end(false);
  begun_ = false;
}

void Lines::append(std::string_view bytes) {
  if (bytes.empty()) return;
  if (!begun_) {
    begun_ = true;
    ++number_;
  }
  const std::size_t room = kLongestLine - std::min(kLongestLine, line_.size());
  too_long_ = too_long_ || bytes.size() > room;
  line_.append(bytes.substr(0, room));
}

void Lines::end(bool whole) {
  if (!line_.empty()) {
    clean(line_);
    sink_({number_, line_, whole && !too_long_});
  }
  line_.clear();
  too_long_ = false;
}

}  // namespace gdr::nccl
