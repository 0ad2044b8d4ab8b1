// What stands below a verdict's headline, as lines with a name each, for text and page alike.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "proof/report.h"

namespace gdr::proof {

struct VerdictLine {
  std::string name;  // "seen"; empty: it belongs to the line before
  std::string text;
  std::size_t more_indent = 0;  // of the text's second line, where it is broken: behind a number
};

std::vector<VerdictLine> lines_of(const Verdict& verdict);

}  // namespace gdr::proof
