// The report as one page that needs nothing but itself: curves, tables, both sides' settings. It
// asks no network, and may not: its own policy forbids it.
#pragma once

#include <string>
#include <string_view>

#include "perf/report.h"
#include "text/envelope.h"

namespace gdr::perf {

std::string to_html(const Report& report, const text::Provenance& provenance = {});

// Text from anywhere as text of a page, also inside an attribute.
std::string escaped(std::string_view text);

}  // namespace gdr::perf
