#include "perf/output/progress.h"

#include <fmt/format.h>

#include <cmath>

#include "perf/output/figures.h"
#include "text/wrap.h"

namespace gdr::perf {
namespace {

std::string time_text(double seconds) {
  const double whole = std::ceil(seconds);
  if (whole < 100) return fmt::format("{:.0f} s", whole);
  return fmt::format("{:.0f} min", std::ceil(whole / 60));
}

}  // namespace

void Progress::on_running(const Running& running) {
  if (!style_.progress || running.rows == 0) return;
  // Leaves out parts until the text fits into the width.
  const std::string row = fmt::format("row {} of {}", running.row + 1, running.rows);
  const std::string left =
      running.seconds_left > 0 ? ", " + time_text(running.seconds_left) + " left" : "";
  const std::string load = fmt::format(": {} {} {}", name_of(running.load.operation),
                                       message_size(running.load.size), direction(running.load));
  const std::size_t columns = line_.columns();
  std::string text = row + load + left;
  if (text::screen_width(text) >= columns) text = row + left;
  // A line that wraps could not be erased.
  if (text::screen_width(text) >= columns || text == shown_) return;
  line_.show(paint(style_, text::Colour::kDim, text));
  shown_ = text;
}

void Progress::clear() {
  line_.clear();
  shown_.clear();
}

}  // namespace gdr::perf
