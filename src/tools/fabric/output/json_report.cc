#include "fabric/output/json_report.h"

#include <fmt/format.h>

#include "fabric/output/coverage.h"
#include "fabric/output/json_lines.h"
#include "fabric/output/json_reader.h"
#include "fabric/output/json_writer.h"
#include "fabric/output/measurement_row.h"
#include "fabric/output/words.h"
#include "text/json_text.h"

namespace gdr::fabric {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

std::string member(const std::string& name, const ordered_json& value) {
  std::string text = "\"" + name + "\":";
  // A line for each host and finding, so that a diff of two documents can be read.
  if (!value.is_array() || value.empty() || !value[0].is_object()) {
    return text + text::json_text(value, -1);
  }
  text += "[\n";
  for (std::size_t i = 0; i < value.size(); ++i) {
    text += (i > 0 ? ",\n" : "") + text::json_text(value[i], -1);
  }
  return text + "]";
}

std::string check_document(const json& document) {
  if (!document.is_object()) return "the document must be an object, is " + found_text(document);
  const auto schema = document.find("schema");
  if (schema == document.end()) return "schema is missing: this is not a report of gdr fabric";
  const std::string ours = text::schema_name("gdr fabric", kSchemaNumber);
  if (*schema == ours) return "";
  return fmt::format("schema must be \"{}\", is {}", ours, found_text(*schema));
}

}  // namespace

std::string to_json(const Report& report, const text::Provenance& provenance) {
  ordered_json whole = text::envelope("gdr fabric", kSchemaNumber, provenance);
  const Headline head = headline_of(report, coverage_of(report));
  // For whoever reads the document with jq; not read back.
  whole["verdict"] = head.word;
  whole["exit_status"] = exit_status(report);
  whole["simulated"] = stand_ins(report);
  whole.update(JsonWriter::json_of(report));
  std::string text = "{";
  for (const auto& [name, value] : whole.items()) {
    text += (text.size() == 1 ? "" : ",\n") + member(name, value);
  }
  text += ",\n\"measurement_fields\":" + field_names();
  return text + ",\n\"measurements\":" + rows_of(report.measurements, ",\n") + "}\n";
}

Result<Report> report_from_json(std::string_view text) {
  if (is_json_lines(text)) return report_from_json_lines(text);
  Result<json> document = parse_json(text);
  if (!document) return document.error();
  std::string wrong = check_document(*document);
  Report report;
  if (wrong.empty()) read_part(*document, "", report, wrong);
  if (wrong.empty()) {
    const auto rows = document->find("measurements");
    if (rows == document->end()) {
      wrong = "measurements is missing";
    } else {
      read_measurements(*rows, "measurements", report.measurements, wrong);
    }
  }
  if (wrong.empty()) wrong = check_references(report);
  if (!wrong.empty()) return Error{EINVAL, wrong};
  return report;
}

}  // namespace gdr::fabric
