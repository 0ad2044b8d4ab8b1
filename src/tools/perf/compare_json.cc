#include "perf/compare.h"
#include "perf/output/json_writer.h"
#include "text/json_text.h"

namespace gdr::perf {
namespace {

using nlohmann::ordered_json;

const char* unit_of(Measure measure) {
  switch (measure) {
    case Measure::kLatency:
      return "ns";
    case Measure::kRate:
      return "messages/s";
    default:
      return "bytes/s";
  }
}

ordered_json row_json(const ComparedRow& row) {
  const Difference& found = row.difference;
  return {{"load", JsonWriter::json_of(row.load)},
          {"unit", unit_of(row.load.measure)},
          {"base", JsonWriter::json_of(row.base)},
          {"other", JsonWriter::json_of(row.other)},
          {"difference", found.share},
          {"interval", {found.interval.low, found.interval.high}},
          {"confidence", kConfidence},
          {"p", found.p},
          {"verdict", name_of(row.verdict)},
          {"remarks", row.remarks}};
}

ordered_json unmatched_json(const std::vector<UnmatchedRow>& rows) {
  ordered_json json = ordered_json::array();
  for (const UnmatchedRow& row : rows) {
    json.push_back({{"load", JsonWriter::json_of(row.load)}, {"reason", row.reason}});
  }
  return json;
}

ordered_json source_json(const Source& source) {
  return {{"file", source.file}, {"date", source.date}, {"command", source.command}};
}

ordered_json comparison_json(const Comparison& comparison) {
  ordered_json json = source_json(comparison.other);
  json["unlike"] = ordered_json::array();
  for (const Unlike& one : comparison.unlike) {
    json["unlike"].push_back({{"what", one.what}, {"base", one.base}, {"other", one.other}});
  }
  json["rows"] = ordered_json::array();
  for (const ComparedRow& row : comparison.rows) json["rows"].push_back(row_json(row));
  json["only_base"] = unmatched_json(comparison.only_base);
  json["only_other"] = unmatched_json(comparison.only_other);
  return json;
}

}  // namespace

std::string to_json(std::span<const Comparison> comparisons, const text::Provenance& provenance) {
  ordered_json json = text::envelope("gdr perf compare", 1, provenance);
  json.update({{"base", nullptr}, {"others", ordered_json::array()}});
  for (const Comparison& comparison : comparisons) {
    json["base"] = source_json(comparison.base);
    json["others"].push_back(comparison_json(comparison));
  }
  return text::json_text(json, 2) + "\n";
}

}  // namespace gdr::perf
