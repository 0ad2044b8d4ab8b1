#include "text/wrap.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

namespace gdr::text {
namespace {

// In a window narrower than this, broken lines read worse than what the terminal makes of them.
constexpr std::size_t kLeastColumns = 40;

// What is read at once: the spaces in front, and the text up to the next gap of `least` spaces.
struct Piece {
  std::string_view gap, text;
};

Piece next_piece(std::string_view rest, std::size_t least) {
  const std::size_t start = std::min(rest.find_first_not_of(' '), rest.size());
  const std::size_t end = rest.find(std::string(least, ' '), start);
  return {rest.substr(0, start), rest.substr(start, std::min(end, rest.size()) - start)};
}

class Wrapper {
 public:
  Wrapper(std::size_t columns, std::size_t indent) : columns_(columns), indent_(indent) {}

  void add_field(const Piece& field) {
    const std::size_t needed = screen_width(field.text);
    if (fits(field.gap.size() + needed)) return append(field);
    if (indent_ + needed <= columns_) {
      break_line();
      return append({{}, field.text});
    }
    // Too long for any line: from where it is, word by word.
    std::string_view gap = field.gap;
    for (std::string_view rest = field.text; !rest.empty();) {
      const Piece word = next_piece(rest, 1);
      rest.remove_prefix(word.gap.size() + word.text.size());
      add_word({gap.empty() ? word.gap : gap, word.text});
      gap = {};
    }
  }
  std::string take() { return std::move(text_); }

 private:
  bool fits(std::size_t more) const { return at_ + more <= columns_; }

  void add_word(const Piece& word) {
    if (fits(word.gap.size() + screen_width(word.text)) || at_ <= indent_) return append(word);
    break_line();
    append({{}, word.text});
  }

  void append(const Piece& piece) {
    text_.append(piece.gap).append(piece.text);
    at_ += piece.gap.size() + screen_width(piece.text);
  }

  void break_line() {
    text_.append("\n").append(indent_, ' ');
    at_ = indent_;
  }

  std::size_t columns_, indent_;
  std::size_t at_ = 0;
  std::string text_;
};

}  // namespace

std::size_t terminal_columns(std::FILE* file) {
  winsize size{};
  if (!isatty(fileno(file)) || ioctl(fileno(file), TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

std::size_t screen_width(std::string_view text) {
  std::size_t count = 0;
  bool colour = false;  // from ESC to the letter that ends it
  for (char c : text) {
    if (c == '\x1b') colour = true;
    if (!colour) count += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
    if (colour && c == 'm') colour = false;
  }
  return count;
}

std::string wrap(std::string_view text, std::size_t columns, std::size_t indent) {
  if (columns < kLeastColumns) return std::string(text);
  Wrapper wrapper(columns, std::min(indent, columns / 2));
  while (!text.empty()) {
    const Piece field = next_piece(text, 2);
    text.remove_prefix(field.gap.size() + field.text.size());
    wrapper.add_field(field);
  }
  return wrapper.take();
}

std::string wrap_lines(std::string_view text, std::size_t columns, std::size_t indent) {
  std::string wrapped;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    wrapped += wrap(text.substr(0, end), columns, indent) + "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return wrapped;
}

}  // namespace gdr::text
