#include "text/live_line.h"

#include <fmt/format.h>

namespace gdr::text {
namespace {

constexpr std::size_t kUsualColumns = 80;

}  // namespace

void LiveLine::show(std::string_view words) {
  if (!style_.progress) return;
  const std::size_t columns = style_.columns > 0 ? style_.columns : kUsualColumns;
  fmt::print(file_, "\r\x1b[K{}", words.substr(0, columns - 1));
  std::fflush(file_);
  shown_ = true;
}

void LiveLine::clear() {
  if (!shown_) return;
  fmt::print(file_, "\r\x1b[K");
  std::fflush(file_);
  shown_ = false;
}

}  // namespace gdr::text
