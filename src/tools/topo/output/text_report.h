// The answer of gdr topo for a person.
#pragma once

#include <string>

#include "text/style.h"
#include "topo/report.h"

namespace gdr::topo {

struct Sections {
  bool tree = false;  // the drawing instead of the matrix
  bool all = false;   // in the drawing: every function
};

std::string to_text(const Report& report, const text::Style& style, Sections sections);

}  // namespace gdr::topo
