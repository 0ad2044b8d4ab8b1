#include "perf/output/json_report.h"

#include "perf/output/json_writer.h"
#include "text/json_text.h"

namespace gdr::perf {
namespace {

using nlohmann::ordered_json;

std::string text_of(const ordered_json& json) { return text::json_text(json, -1); }

}  // namespace

std::string to_json(const Report& report, const text::Provenance& provenance) {
  ordered_json whole = text::envelope("gdr perf", kSchemaNumber, provenance);
  whole.update(JsonWriter::json_of(report));
  std::string text;
  for (const auto& [name, value] : whole.items()) {
    text += (text.empty() ? "{\"" : ",\n\"") + name + "\":";
    if (name != "rows") {
      text += text_of(value);
      continue;
    }
    text += "[";
    for (std::size_t i = 0; i < value.size(); ++i) {
      text += (i == 0 ? "\n" : ",\n") + text_of(value[i]);
    }
    text += "]";
  }
  return text + "}\n";
}

}  // namespace gdr::perf
