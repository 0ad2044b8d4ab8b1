// Style: what may be sent to a file besides text. A terminal gets colours, progress and broken
// lines, everything else plain lines.
//
//   const Style style = Style::of(stdout);
//   fmt::print("{}\n", paint(style, Colour::kRed, "FAILED"));
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>

namespace gdr::text {

struct Style {
  bool colours = false;
  bool progress = false;
  std::size_t columns = 0;  // 0: lines are not broken
  // A terminal, unless NO_COLOR is set (no-color.org) or TERM is "dumb".
  static Style of(std::FILE* file);
};

enum class Colour { kGreen, kRed, kYellow, kBold, kDim };

std::string paint(const Style& style, Colour colour, const std::string& text);

}  // namespace gdr::text
