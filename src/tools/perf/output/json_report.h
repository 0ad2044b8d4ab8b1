// The report as one JSON document, and back.
//
//   const std::string text = to_json(report);
//   Result<Report> again = report_from_json(text);
//
// The head is a line a part, each row a line. Units are part of the names. What a row has not is
// left out. A reader of the document may count on `schema` and `version`: a name keeps its meaning
// as long as the version does; names may be added.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "perf/report.h"

namespace gdr::perf {

constexpr int kJsonVersion = 2;

std::string to_json(const Report& report);

// Reads a document from anywhere. EINVAL names the field and what was found there.
Result<Report> report_from_json(std::string_view text);

}  // namespace gdr::perf
