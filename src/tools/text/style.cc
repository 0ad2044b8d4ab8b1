#include "text/style.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "text/colours.h"
#include "text/wrap.h"

namespace gdr::text {

namespace {

Colours chosen = Colours::kAuto;

}  // namespace

Style Style::of(std::FILE* file) {
  Style style;
  const char* term = getenv("TERM");
  const char* no_colour = getenv("NO_COLOR");
  style.colours = chosen == Colours::kAlways;
  if (!isatty(fileno(file)) || (term && strcmp(term, "dumb") == 0)) return style;
  style.progress = true;
  style.colours |= chosen == Colours::kAuto && !(no_colour && *no_colour);
  style.columns = terminal_columns(file);
  return style;
}

void choose_colours(Colours colours) { chosen = colours; }

std::string paint(const Style& style, Colour colour, const std::string& text) {
  if (!style.colours) return text;
  static constexpr const char* kCodes[] = {"32", "31", "33", "1", "2"};
  return std::string("\x1b[") + kCodes[static_cast<int>(colour)] + "m" + text + "\x1b[0m";
}

}  // namespace gdr::text
