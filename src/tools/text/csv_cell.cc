#include "text/csv_cell.h"

#include "base/printable.h"

namespace gdr::text {

std::string csv_cell(std::string_view given) {
  std::string text = printable(given);
  if (text.find_first_of(",\"") == text.npos) return text;
  std::string cell = "\"";
  for (const char c : text) cell += c == '"' ? std::string("\"\"") : std::string(1, c);
  return cell + '"';
}

}  // namespace gdr::text
