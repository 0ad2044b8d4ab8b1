// The parts of a report as JSON values, by the names in json_fields.h.
//
//   const nlohmann::ordered_json load = JsonWriter::json_of(row.load);
#pragma once

#include <nlohmann/json.hpp>

#include "perf/output/json_fields.h"

namespace gdr::perf {

class JsonWriter {
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
  void amount_if_known(const char* name, double field) {
    json_[name] = field > 0 ? nlohmann::ordered_json(field) : nlohmann::ordered_json();
  }
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
    nlohmann::ordered_json& all = json_[name] = nlohmann::ordered_json::array();
    for (const T& item : field) all.push_back(json_of(item));
  }
  void histogram(const char* name, const std::vector<Bin>& bins, std::uint64_t) {
    nlohmann::ordered_json times = nlohmann::ordered_json::array(),
                           counts = nlohmann::ordered_json::array();
    for (const Bin& bin : bins) {
      times.push_back(bin.nanoseconds);
      counts.push_back(bin.count);
    }
    json_[name] = {{"ns", std::move(times)}, {"count", std::move(counts)}};
  }

  template <typename T>
  static nlohmann::ordered_json json_of(const T& field) {
    JsonWriter writer;
    visit_fields(writer, field);
    return std::move(writer.json_);
  }

 private:
  nlohmann::ordered_json json_ = nlohmann::ordered_json::object();
};

}  // namespace gdr::perf
