#include "text/markup.h"

#include "base/printable.h"

namespace gdr::text {

std::string escape_markup(std::string_view given) {
  std::string text;
  const std::string clean = printable(given);
  for (std::size_t i = 0; i < clean.size(); ++i) {
    const char one = clean[i];
    if (clean.compare(i, 3, "\xef\xbf\xbe") == 0 || clean.compare(i, 3, "\xef\xbf\xbf") == 0) {
      text += '?';
      i += 2;
    } else if (one == '&') {
      text += "&amp;";
    } else if (one == '<') {
      text += "&lt;";
    } else if (one == '>') {
      text += "&gt;";
    } else if (one == '"') {
      text += "&quot;";
    } else {
      text += one;
    }
  }
  return text;
}

}  // namespace gdr::text
