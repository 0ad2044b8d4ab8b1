#include "perf/output/json_report.h"

#include "perf/output/json_writer.h"

namespace gdr::perf {
namespace {

using nlohmann::ordered_json;

// What hosts and drivers call themselves need not be UTF-8; the document must be.
std::string text_of(const ordered_json& json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace

std::string to_json(const Report& report) {
  std::string text = "{\"schema\":\"gdr-perf\",\n\"version\":" + std::to_string(kJsonVersion);
  const ordered_json whole = JsonWriter::json_of(report);
  for (const auto& [name, value] : whole.items()) {
    text += ",\n\"" + name + "\":";
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
  return text + "}";
}

}  // namespace gdr::perf
