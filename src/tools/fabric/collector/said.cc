#include "fabric/collector/said.h"

#include "base/printable.h"

namespace gdr::fabric {

std::string said(std::string_view text, std::size_t most) {
  if (text.size() <= most) return printable(text);
  // Not in the middle of a character, whose other bytes begin with the bits 10.
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) --most;
  return printable(text.substr(0, most)) + "…";
}

}  // namespace gdr::fabric
