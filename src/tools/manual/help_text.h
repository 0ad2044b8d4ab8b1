// A page as `--help` shows it: text for a terminal.
//
//   fmt::print("{}\n{}", usage_text(*page), help_footer(*page, 80));
#pragma once

#include <cstddef>
#include <string>

#include "manual/page.h"

namespace gdr::manual {

// "Usage: gdr perf [OPTIONS]              both sides on this host" and so on, one way a line.
std::string usage_text(const Page& page, std::size_t columns);

// Notes, exit status, environment and examples; ends with a line feed.
std::string help_footer(const Page& page, std::size_t columns);

// "  --json                   Print one JSON document": a name, and its description from
// `described_from` on. A name that is too long has a line of its own.
inline constexpr std::size_t kDescribedFrom = 27;
std::string described(const std::string& name, const std::string& description, std::size_t columns,
                      std::size_t described_from = kDescribedFrom);

}  // namespace gdr::manual
