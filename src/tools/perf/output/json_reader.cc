#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "perf/output/json_fields.h"
#include "perf/output/json_report.h"
#include "text/format.h"

namespace gdr::perf {
namespace {

using nlohmann::json;

// Ours nest half as deep. Deeper ones would only cost memory.
constexpr int kMostDeep = 16;
// Values take several times the bytes of their text.
constexpr std::size_t kLongestReport = 256 << 20;
// Beyond every time and rate there is, and far from where arithmetic overflows.
constexpr double kMostAmount = 1e18;

std::string found(const json& value) {
  constexpr std::size_t kMostShown = 40;
  if (value.is_structured()) return value.is_array() ? "a list" : "an object";
  const std::string text = printable(value.dump());
  return text.size() <= kMostShown ? text : "a long text";
}

std::optional<Place> place_from(std::string_view text) {
  Place place;
  if (text == text_of(place)) return place;
  for (int kind = 1; kind <= static_cast<int>(kLast<Place::Kind>); ++kind) {
    // As many digits as never overflow; text_of() then says whether it was written so.
    const std::size_t colon = text.find(':');
    if (colon == text.npos || text.size() - colon < 2 || text.size() - colon > 6) return {};
    place = {static_cast<Place::Kind>(kind), 0};
    for (const char digit : text.substr(colon + 1)) {
      if (digit < '0' || digit > '9') return {};
      place.gpu = place.gpu * 10 + (digit - '0');
    }
    if (text == text_of(place)) return place;
  }
  return {};
}

// The first thing that is wrong stops it: every function does nothing afterwards.
class Reader {
 public:
  Reader(const json& object, std::string path, std::string& wrong)
      : object_(object), path_(std::move(path)), wrong_(wrong) {
    if (!object.is_object()) fail(path_, "an object", object);
  }

  void value(const char* name, std::string& field) {
    const json* value = find(name);
    if (!value) return;
    if (!value->is_string()) return fail(at(name), "text", *value);
    field = value->get_ref<const std::string&>();
  }
  void value(const char* name, bool& field) {
    const json* value = find(name);
    if (!value) return;
    if (!value->is_boolean()) return fail(at(name), "true or false", *value);
    field = value->get<bool>();
  }
  void value(const char* name, Place& field) {
    const json* value = find(name);
    if (!value) return;
    std::optional<Place> place;
    if (value->is_string()) place = place_from(value->get_ref<const std::string&>());
    if (!place) return fail(at(name), "host, gpu:N, gpu-vmm:N, staged:N or pinned:N", *value);
    field = *place;
  }
  template <typename T>
  void value(const char* name, T& field) {
    const json* value = find(name);
    if (!value) return;
    if constexpr (std::is_enum_v<T>) {
      enumeration(at(name), *value, field);
    } else {
      whole(at(name), *value, field);
    }
  }

  void amount(const char* name, double& field) {
    if (const json* value = find(name)) real(at(name), *value, 0, field);
  }
  void amount_if_known(const char* name, double& field) {
    if (!wrong_.empty()) return;
    const auto entry = object_.find(name);
    if (entry != object_.end() && !entry->is_null()) real(at(name), *entry, 0, field);
  }
  void number(const char* name, double& field) {
    if (const json* value = find(name)) real(at(name), *value, -kMostAmount, field);
  }
  void amounts(const char* name, std::vector<double>& field) {
    each(name, field, [&](const std::string& path, const json& item, double& into) {
      real(path, item, 0, into);
    });
  }

  template <typename T>
  void part(const char* name, T& field) {
    if (const json* value = find(name)) structure(at(name), *value, field);
  }
  template <typename T>
  void maybe(const char* name, std::optional<T>& field) {
    if (!wrong_.empty()) return;
    const auto entry = object_.find(name);
    if (entry == object_.end() || entry->is_null()) return;
    structure(at(name), *entry, field.emplace());
  }
  void list(const char* name, std::vector<std::string>& field) {
    each(name, field, [&](const std::string& path, const json& item, std::string& into) {
      if (!item.is_string()) return fail(path, "text", item);
      into = item.get_ref<const std::string&>();
    });
  }
  template <typename T>
  void list(const char* name, std::vector<T>& field) {
    each(name, field,
         [&](const std::string& path, const json& item, T& into) { structure(path, item, into); });
  }
  void histogram(const char* name, std::vector<Bin>& bins, std::uint64_t samples);

 private:
  std::string at(const char* name) const { return path_.empty() ? name : path_ + "." + name; }

  void fail(const std::string& path, const std::string& wanted, const json& value) {
    if (!wrong_.empty()) return;
    wrong_ = fmt::format("{} must be {}, is {}", path.empty() ? "the document" : path, wanted,
                         found(value));
  }

  const json* find(const char* name) {
    if (!wrong_.empty()) return nullptr;
    const auto entry = object_.find(name);
    if (entry != object_.end()) return &*entry;
    wrong_ = at(name) + " is missing";
    return nullptr;
  }

  template <typename T>
  void structure(const std::string& path, const json& value, T& field) {
    Reader reader(value, path, wrong_);
    visit_fields(reader, field);
  }

  template <typename T, typename Read>
  void each(const char* name, std::vector<T>& field, Read read) {
    const json* value = find(name);
    if (!value) return;
    if (!value->is_array()) return fail(at(name), "a list", *value);
    for (std::size_t i = 0; i < value->size() && wrong_.empty(); ++i) {
      read(fmt::format("{}[{}]", at(name), i), (*value)[i], field.emplace_back());
    }
  }

  template <typename Enum>
  void enumeration(const std::string& path, const json& value, Enum& field) {
    std::string names;
    for (int i = 0; i <= static_cast<int>(kLast<Enum>); ++i) {
      const char* name = name_of(static_cast<Enum>(i));
      if (value.is_string() && value.get_ref<const std::string&>() == name) {
        field = static_cast<Enum>(i);
        return;
      }
      names += (i == 0 ? "" : ", ") + std::string(name);
    }
    fail(path, "one of " + names, value);
  }

  template <typename T>
  void whole(const std::string& path, const json& value, T& field) {
    constexpr std::uint64_t kMost = std::numeric_limits<T>::max();
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > kMost) {
      return fail(path, fmt::format("a whole number from 0 to {}", kMost), value);
    }
    field = static_cast<T>(value.get<std::uint64_t>());
  }

  void real(const std::string& path, const json& value, double least, double& field) {
    const double read = value.is_number() ? value.get<double>() : NAN;
    if (!(read >= least && read <= kMostAmount)) {
      return fail(path, fmt::format("a number from {:g} to {:g}", least, kMostAmount), value);
    }
    field = read;
  }

  const json& object_;
  std::string path_;
  std::string& wrong_;
};

void Reader::histogram(const char* name, std::vector<Bin>& bins, std::uint64_t samples) {
  const json* value = find(name);
  if (!value) return;
  std::vector<double> times;
  std::vector<std::uint64_t> counts;
  Reader inside(*value, at(name), wrong_);
  inside.amounts("ns", times);
  inside.each("count", counts, [&](const std::string& path, const json& item, std::uint64_t& into) {
    whole(path, item, into);
  });
  if (!wrong_.empty()) return;
  if (times.size() != counts.size()) {
    wrong_ = fmt::format("{} has {} but {}", at(name), text::plural(times.size(), "time"),
                         text::plural(counts.size(), "count"));
    return;
  }
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const std::string here = fmt::format("{}.ns[{}]", at(name), i);
    if (i > 0 && times[i] <= times[i - 1]) wrong_ = here + " is not above the one before";
    if (counts[i] > samples - sum) wrong_ = at(name) + " counts more than all samples";
    if (!wrong_.empty()) return;
    sum += counts[i];
    bins.push_back({times[i], counts[i]});
  }
  if (sum != samples && !times.empty()) {
    wrong_ = fmt::format("{} counts {} of {}", at(name), sum, text::plural(samples, "sample"));
  }
}

bool is_too_deep(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') {
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && (c == '[' || c == '{')) {
      if (++depth > kMostDeep) return true;
    } else if (!quoted && (c == ']' || c == '}')) {
      --depth;
    }
  }
  return false;
}

std::string check_schema(const json& document) {
  if (!document.is_object()) return "the document must be an object, is " + found(document);
  const auto schema = document.find("schema");
  if (schema == document.end()) return "schema is missing: this is not a report of gdr perf";
  const std::string ours = text::schema_name("gdr perf", kSchemaNumber);
  if (*schema == ours) return "";
  return fmt::format("schema must be \"{}\", is {}", ours, found(*schema));
}

Result<json> parse(std::string_view text) {
  if (text.size() > kLongestReport) {
    return Error{EFBIG, fmt::format("the document has {} MB; at most {} MB are read",
                                    text.size() / 1'000'000, kLongestReport / 1'000'000)};
  }
  if (is_too_deep(text)) {
    return Error{EINVAL, fmt::format("the document is more than {} levels deep", kMostDeep)};
  }
  try {
    return json::parse(text);
  } catch (const json::parse_error& error) {
    return Error{EINVAL, error.byte > text.size()
                             ? std::string("not JSON: it ends too early")
                             : fmt::format("not JSON: error at byte {}", error.byte)};
  } catch (const json::exception&) {
    return Error{EINVAL, "not JSON: a number is too large"};
  }
}

}  // namespace

Result<Report> report_from_json(std::string_view text) {
  Result<json> document = parse(text);
  if (!document) return document.error();
  std::string wrong = check_schema(*document);
  Report report;
  if (wrong.empty()) {
    Reader reader(*document, "", wrong);
    visit_fields(reader, report);
  }
  if (!wrong.empty()) return Error{EINVAL, wrong};
  return report;
}

}  // namespace gdr::perf
