#include "text/live_line.h"

#include <fmt/format.h>

#include "text/wrap.h"

namespace gdr::text {
namespace {

constexpr std::size_t kUsualColumns = 80;

// Not within the bytes of a character. Colours are not known here.
std::string_view cut(std::string_view words, std::size_t columns) {
  std::size_t size = words.size();
  while (screen_width(words.substr(0, size)) > columns) --size;
  return words.substr(0, size);
}

}  // namespace

std::size_t LiveLine::columns() const {
  return style_.columns > 0 ? style_.columns : kUsualColumns;
}

void LiveLine::show(std::string_view words) {
  if (!style_.progress) return;
  write(fmt::format("\r\x1b[K{}", cut(words, columns() - 1)));
  shown_ = true;
}

void LiveLine::clear() {
  if (!shown_) return;
  write("\r\x1b[K");
  shown_ = false;
}

// Not by fmt::print(), which throws where the terminal is gone: the work goes on without it.
void LiveLine::write(const std::string& text) {
  std::fputs(text.c_str(), file_);
  std::fflush(file_);
}

}  // namespace gdr::text
