// The report as gdr topo prints it, for tests that look for parts of it.
#pragma once

#include <string>

#include "text/style.h"
#include "topo/output/text_report.h"

namespace gdr::topo {

inline std::string text_of(const Report& report, Sections sections = {}, std::size_t columns = 0) {
  text::Style style;
  style.columns = columns;
  return to_text(report, style, sections);
}

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace gdr::topo
