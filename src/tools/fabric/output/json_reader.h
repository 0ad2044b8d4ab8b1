// Reads the parts of a report from JSON values, by the names in json_fields.h. The first thing that
// is wrong is kept in one line; nothing is read behind it.
//
//   std::string wrong;
//   read_part(json, "hosts[3]", report.hosts[3], wrong);
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fabric/output/json_fields.h"

namespace gdr::fabric {

// What stands where something else should, short enough for a line.
std::string found_text(const nlohmann::json& value);

// One line where it is no JSON, too long or too deep.
Result<nlohmann::json> parse_json(std::string_view text);

// Places within the report that its lists do not have: a host, a rail. Empty: there is none.
std::string check_references(const Report& report);

class JsonReader {
 public:
  using json = nlohmann::json;

  JsonReader(const json& object, std::string path, std::string& wrong)
      : object_(object), path_(std::move(path)), wrong_(wrong) {
    if (!object.is_object()) fail(path_, "an object", object);
  }

  template <typename T>
  void value(const char* name, T& field) {
    const json* value = find(name);
    if (!value) return;
    read(at(name), *value, field);
  }
  void number(const char* name, double& field) {
    const json* value = find(name);
    if (!value) return;
    const double number = value->is_number() ? value->get<double>() : NAN;
    if (!(number >= 0 && number <= kMostAmount)) {
      return fail(at(name), fmt::format("a number from 0 to {:g}", kMostAmount), *value);
    }
    field = number;
  }
  template <typename T>
  void part(const char* name, T& field) {
    if (const json* value = find(name)) read(at(name), *value, field);
  }
  template <typename T>
  void list(const char* name, std::vector<T>& field) {
    const json* value = find(name);
    if (!value) return;
    if (!value->is_array()) return fail(at(name), "a list", *value);
    for (std::size_t i = 0; i < value->size() && wrong_.empty(); ++i) {
      read(fmt::format("{}[{}]", at(name), i), (*value)[i], field.emplace_back());
    }
  }

 private:
  // Beyond every time and rate there is, and far from where arithmetic overflows.
  static constexpr double kMostAmount = 1e18;

  std::string at(const char* name) const { return path_.empty() ? name : path_ + "." + name; }

  void fail(const std::string& path, const std::string& wanted, const json& value) {
    if (!wrong_.empty()) return;
    wrong_ = fmt::format("{} must be {}, is {}", path.empty() ? "the document" : path, wanted,
                         found_text(value));
  }

  const json* find(const char* name) {
    if (!wrong_.empty()) return nullptr;
    const auto entry = object_.find(name);
    if (entry != object_.end()) return &*entry;
    wrong_ = at(name) + " is missing";
    return nullptr;
  }

  void read(const std::string& path, const json& value, std::string& field) {
    if (!value.is_string()) return fail(path, "text", value);
    field = value.get_ref<const std::string&>();
  }
  // A file's command is nobody's to type.
  void read(const std::string& path, const json& value, text::Command&) {
    if (!value.is_string()) fail(path, "text", value);
  }
  void read(const std::string& path, const json& value, bool& field) {
    if (!value.is_boolean()) return fail(path, "true or false", value);
    field = value.get<bool>();
  }
  template <typename T>
  void read(const std::string& path, const json& value, T& field) {
    if constexpr (std::is_enum_v<T>) {
      enumeration(path, value, field);
    } else if constexpr (std::is_integral_v<T>) {
      whole(path, value, field);
    } else {
      JsonReader inside(value, path, wrong_);
      visit_fields(inside, field);
    }
  }

  template <typename Enum>
  void enumeration(const std::string& path, const json& value, Enum& field) {
    std::string names;
    for (int i = 0; i <= static_cast<int>(kLast<Enum>); ++i) {
      const std::string_view name = name_of(static_cast<Enum>(i));
      if (value.is_string() && value.get_ref<const std::string&>() == name) {
        field = static_cast<Enum>(i);
        return;
      }
      names += fmt::format("{}{}", i == 0 ? "" : ", ", name);
    }
    fail(path, "one of " + names, value);
  }

  template <typename T>
  void whole(const std::string& path, const json& value, T& field) {
    using Limits = std::numeric_limits<T>;
    const bool fits = value.is_number_unsigned()
                          ? value.get<std::uint64_t>() <= static_cast<std::uint64_t>(Limits::max())
                          : std::is_signed_v<T> && value.is_number_integer() &&
                                value.get<std::int64_t>() >= std::int64_t{-1};
    if (!fits) {
      return fail(
          path,
          fmt::format("a whole number from {} to {}", std::is_signed_v<T> ? -1 : 0, Limits::max()),
          value);
    }
    field = static_cast<T>(value.get<std::int64_t>());
  }

  const json& object_;
  std::string path_;
  std::string& wrong_;
};

template <typename T>
void read_part(const nlohmann::json& value, const std::string& path, T& field, std::string& wrong) {
  JsonReader reader(value, path, wrong);
  visit_fields(reader, field);
}

// The measurements of `rows`, behind those that are there already.
void read_measurements(const nlohmann::json& rows, const std::string& path,
                       std::vector<Measurement>& into, std::string& wrong);

}  // namespace gdr::fabric
