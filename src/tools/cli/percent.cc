#include "cli/percent.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>

namespace gdr::cli {

double read_percent(const std::string& text) {
  char* end = nullptr;
  const double percent = strtod(text.c_str(), &end);
  if (text.empty() || *end != 0 || !(percent > 0 && percent <= 1000)) {
    throw CLI::ValidationError(fmt::format(
        "--fail-if-worse {}: it takes a percentage above 0, as in --fail-if-worse 5", text));
  }
  return percent / 100;
}

}  // namespace gdr::cli
