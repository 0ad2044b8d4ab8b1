// The report for people, the answer first.
#pragma once

#include <string>

#include "mpi/survey.h"
#include "text/style.h"

namespace gdr::mpi {

struct TextOptions {
  bool all = false;  // also what was read of each one
  text::Style style;
};

std::string to_text(const Report& report, const TextOptions& options);

}  // namespace gdr::mpi
