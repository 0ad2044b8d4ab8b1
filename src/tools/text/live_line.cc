#include "text/live_line.h"

#include <fmt/format.h>

namespace gdr::text {
namespace {

constexpr std::size_t kUsualColumns = 80;

}  // namespace

void LiveLine::show(std::string_view words) {
  if (!style_.progress) return;
  const std::size_t columns = style_.columns > 0 ? style_.columns : kUsualColumns;
  write(fmt::format("\r\x1b[K{}", words.substr(0, columns - 1)));
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
