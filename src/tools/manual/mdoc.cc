#include "manual/mdoc.h"

#include <algorithm>
#include <cctype>

#include "text/wrap.h"

namespace gdr::manual {
namespace {

constexpr std::size_t kColumns = 78;  // of the source; mandoc complains about lines above 80

bool ends_sentence(std::string_view text, std::size_t at) {
  if (text[at] != '.' && text[at] != '?' && text[at] != ':') return false;
  if (at + 2 >= text.size() || text[at + 1] != ' ') return false;
  // "... and" goes on.
  const bool is_ellipsis = at > 0 && text[at - 1] == '.';
  return !is_ellipsis &&
         (text[at] != ':' || std::isupper(static_cast<unsigned char>(text[at + 2])));
}

// A line of text that begins like a request would be one.
std::string harmless(const std::string& line) {
  return line.starts_with('.') || line.starts_with('\'') ? "\\&" + line : line;
}

}  // namespace

std::string escape(std::string_view text) {
  std::string escaped;
  for (const char one : text) {
    if (one == '\\') {
      escaped += "\\e";
    } else if (one == '-') {
      escaped += "\\-";
    } else {
      escaped += one;
    }
  }
  return escaped;
}

std::string argument(std::string_view text) {
  std::string quoted;
  for (const char one : escape(text)) quoted += one == '"' ? "\\(dq" : std::string(1, one);
  const bool is_word = quoted.find(' ') == std::string::npos;
  // Single letters and punctuation may be macros or closing marks: \& in front makes them text.
  if (quoted.size() <= 3) quoted = "\\&" + quoted;
  return is_word ? quoted : '"' + quoted + '"';
}

void Mdoc::macro(std::string_view name, std::string_view rest) {
  text_ += '.';
  text_ += name;
  if (!rest.empty()) text_.append(" ").append(rest);
  text_ += '\n';
}

void Mdoc::prose(std::string_view text) {
  for (std::size_t at = 0; !text.empty(); ++at) {
    const bool at_end = at + 1 >= text.size();
    if (!at_end && !ends_sentence(text, at)) continue;
    const std::string sentence = escape(text.substr(0, at + 1));
    const std::string lines = text::wrap(sentence, kColumns, 0);
    for (std::size_t from = 0; from <= lines.size();) {
      const std::size_t end = std::min(lines.find('\n', from), lines.size());
      text_ += harmless(lines.substr(from, end - from)) + "\n";
      from = end + 1;
    }
    text.remove_prefix(at_end ? text.size() : at + 2);
    at = static_cast<std::size_t>(-1);
  }
}

void Mdoc::literal(const std::vector<std::string>& lines) {
  macro("Bd", "-literal -offset indent");
  for (const std::string& line : lines) text_ += harmless(escape(line)) + "\n";
  macro("Ed");
}

void begin_list(Mdoc& page) { page.macro("Bl", "-tag -width Ds"); }

void end_list(Mdoc& page) { page.macro("El"); }

}  // namespace gdr::manual
