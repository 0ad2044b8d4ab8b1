#include "perf/output/json_report.h"

#include <nlohmann/json.hpp>

#include "perf/output/json_fields.h"

namespace gdr::perf {
namespace {

using nlohmann::ordered_json;

class Writer {
 public:
  void value(const char* name, const std::string& text) { json_[name] = text; }
  void value(const char* name, const Place& place) { json_[name] = text_of(place); }
  template <typename T>
  void value(const char* name, const T& field) {
    if constexpr (std::is_enum_v<T>) {
      json_[name] = name_of(field);
    } else {
      json_[name] = field;
    }
  }
  void amount(const char* name, double field) { json_[name] = field; }
  void number(const char* name, double field) { json_[name] = field; }
  void amounts(const char* name, const std::vector<double>& field) { json_[name] = field; }
  template <typename T>
  void part(const char* name, const T& field) {
    json_[name] = json_of(field);
  }
  template <typename T>
  void maybe(const char* name, const std::optional<T>& field) {
    if (field) part(name, *field);
  }
  void list(const char* name, const std::vector<std::string>& field) { json_[name] = field; }
  template <typename T>
  void list(const char* name, const std::vector<T>& field) {
    ordered_json& all = json_[name] = ordered_json::array();
    for (const T& item : field) all.push_back(json_of(item));
  }
  void histogram(const char* name, const std::vector<Bin>& bins, std::uint64_t) {
    ordered_json times = ordered_json::array(), counts = ordered_json::array();
    for (const Bin& bin : bins) {
      times.push_back(bin.nanoseconds);
      counts.push_back(bin.count);
    }
    json_[name] = {{"ns", std::move(times)}, {"count", std::move(counts)}};
  }

  template <typename T>
  static ordered_json json_of(const T& field) {
    Writer writer;
    visit_fields(writer, field);
    return std::move(writer.json_);
  }

 private:
  ordered_json json_ = ordered_json::object();
};

// What hosts and drivers call themselves need not be UTF-8; the document must be.
std::string text_of(const ordered_json& json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace

std::string to_json(const Report& report) {
  std::string text = "{\"schema\":\"gdr-perf\",\n\"version\":" + std::to_string(kJsonVersion);
  const ordered_json whole = Writer::json_of(report);
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
