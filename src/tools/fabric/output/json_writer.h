// The parts of a report as JSON values, by the names in json_fields.h.
//
//   const nlohmann::ordered_json host = JsonWriter::json_of(report.hosts[0]);
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "fabric/output/json_fields.h"

namespace gdr::fabric {

class JsonWriter {
 public:
  template <typename T>
  void value(const char* name, const T& field) {
    if constexpr (std::is_enum_v<T>) {
      json_[name] = name_of(field);
    } else if constexpr (std::is_same_v<T, text::Command>) {
      json_[name] = field.text();
    } else {
      json_[name] = field;
    }
  }
  void number(const char* name, double field) { json_[name] = field; }
  template <typename T>
  void part(const char* name, const T& field) {
    json_[name] = json_of(field);
  }
  template <typename T>
  void list(const char* name, const std::vector<T>& field) {
    json_[name] = list_of(std::span(field));
  }

  template <typename T>
  static nlohmann::ordered_json json_of(const T& field) {
    JsonWriter writer;
    visit_fields(writer, field);
    return std::move(writer.json_);
  }
  template <typename T>
  static nlohmann::ordered_json list_of(std::span<const T> fields) {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const T& item : fields) {
      if constexpr (std::is_class_v<T> && !std::is_same_v<T, std::string>) {
        all.push_back(json_of(item));
      } else {
        all.push_back(item);
      }
    }
    return all;
  }
  static nlohmann::ordered_json run_of(const Report& report) {
    JsonWriter writer;
    visit_run(writer, report);
    return std::move(writer.json_);
  }

 private:
  nlohmann::ordered_json json_ = nlohmann::ordered_json::object();
};

}  // namespace gdr::fabric
