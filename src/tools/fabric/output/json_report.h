// The report as one JSON document, and back.
//
//   const std::string text = to_json(report, provenance);
//   Result<Report> again = report_from_json(text);
//
// It begins with the envelope of all documents (text/envelope.h). The head is a line a part, each
// host, finding and measurement a line. Units are part of the names.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "fabric/report.h"
#include "text/envelope.h"

namespace gdr::fabric {

constexpr int kSchemaNumber = 1;

std::string to_json(const Report& report, const text::Provenance& provenance = {});

// Reads a document from anywhere: a whole one, or the lines of json_lines.h. EINVAL names the field
// and what was found there.
Result<Report> report_from_json(std::string_view text);

}  // namespace gdr::fabric
