// gdr __manual: writes the manual pages, for the build.
//
//   gdr __manual gdr-prove         prints one
//   gdr __manual --into DIR        writes all: DIR/man1/gdr-prove.1, DIR/man7/gdr-soft.7
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace gdr::cli {

// `words` behind __manual; returns the exit status.
int run_manual(const std::vector<std::string>& words);

}  // namespace gdr::cli
