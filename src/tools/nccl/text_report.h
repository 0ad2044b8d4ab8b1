// The report for people. Lines are not broken: the caller knows how wide the terminal is.
#pragma once

#include <string>

#include "nccl/judge.h"

namespace gdr::nccl {

// Indent of a cause's words and their continuation lines.
constexpr std::size_t kTextIndent = 12;

// `all`: every group of connections (default: the first ones, those without GDRDMA in front).
std::string to_text(const Report& report, bool all);

// "GDRDMA IN PART"
const char* name_of(Verdict verdict);
// "gdrdma", as on the command line
const char* name_of(Expectation expectation);

}  // namespace gdr::nccl
