// The report as one JSON document, and back.
//
//   const std::string text = to_json(report);
//   Result<Report> again = report_from_json(text);
//
// The head is a line a part, each row a line. Units are part of the names. What a row has not is
// left out. It begins with the envelope of all documents (text/envelope.h).
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "perf/report.h"
#include "text/envelope.h"

namespace gdr::perf {

constexpr int kSchemaNumber = 1;

// `provenance.date` gives way to the report's own date, at which its run began.
std::string to_json(const Report& report, const text::Provenance& provenance = {});

// Reads a document from anywhere. EINVAL names the field and what was found there.
Result<Report> report_from_json(std::string_view text);

}  // namespace gdr::perf
