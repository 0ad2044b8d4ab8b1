// --fail-if-worse: a percentage.
#pragma once

#include <string>

namespace gdr::cli {

// "5" -> 0.05. CLI::ValidationError: it is none above 0.
double read_percent(const std::string& text);

}  // namespace gdr::cli
